import { PassThrough } from 'node:stream';
import type { Readable } from 'node:stream';
import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { count } from '../../shared/runtime/variables.ts';
import { tooMany } from './api-error.ts';

/** A source of successive values for any number of listeners. */
export type Feed<Value = unknown> = {
  /** Calls `push` with the current value, then after each change; returns the function that ends the subscription. */
  subscribe(push: (value: Value) => void): () => void;
};

/** Replies that continue: server-sent events (HTML living standard, section 9.2). */
export type EventStreams = {
  /**
   * Opens the body of a reply that continues. The body ends when the reader's credentials are no longer valid, which
   * each keep-alive checks. Throws a 429 at the limit of streams of one account. At the limit of all accounts, the
   * account with the most streams loses its newest stream if it has at least two more than this account; otherwise
   * throws a 429.
   */
  open(reader: StreamReader, feed: Feed): Readable;
  /**
   * Checks all readers of an account in this process now. Once it resolves, readers whose credentials are no longer
   * valid receive nothing more. Other processes check at the next keep-alive.
   */
  recheck(accountId: string): Promise<void>;
  readonly openCount: number;
  /** Ends all streams; clients reconnect elsewhere. */
  stop(): void;
};

export type StreamReader = {
  readonly accountId: string;
  /**
   * Whether the key and the session with which the stream was opened still allow it, as it is: masked or not. A
   * rejection ends the stream too.
   */
  isValid(): Promise<boolean>;
};

const streams = {
  EVENT_STREAMS_MAX: count(
    'Live views (of events or figures) that may be open at a time, over all accounts; one account may have a quarter of them',
    200,
  ),
};

export const { variables: eventStreamsEnv, read: readEventStreamSettings } = defineSettings({
  streamsMax: fromEnv(streams),
  streamsOfAccountMax: fromEnv(streams, (env) => Math.ceil(env.EVENT_STREAMS_MAX / 4)),
  keepAliveMs: fromEnv({
    EVENT_STREAM_KEEP_ALIVE_MS: count(
      'How often a live view sends a keep-alive for proxies, and checks that its key (and its session, if any) is still valid',
      15_000,
      { unit: 'ms', minimum: 1_000 },
    ),
  }),
});

export type EventStreamSettings = ReturnType<typeof readEventStreamSettings>;

type OpenStream = { readonly accountId: string; check(): Promise<void> };

/** A reader with more unread bytes is disconnected and reconnects: it would only receive outdated values. */
const unreadBytesMax = 4 * 1024 ** 2;
const unread = (stream: PassThrough): number => stream.writableLength + stream.readableLength;

export function createEventStreams({
  streamsMax,
  streamsOfAccountMax,
  keepAliveMs,
}: EventStreamSettings): EventStreams {
  const opened = new Map<PassThrough, OpenStream>();
  const refuse = (most: number, whose: string): never => {
    throw tooMany(`${most} live views${whose} are open: close one, or try again later`);
  };
  /**
   * Ends the newest stream of the account with the most streams, if that account has at least two more streams than
   * this one. Returns whether a stream was ended.
   */
  const makeRoom = (accountId: string): boolean => {
    const byAccount = new Map<string, PassThrough[]>([[accountId, []]]);
    for (const [stream, one] of opened) byAccount.set(one.accountId, [...(byAccount.get(one.accountId) ?? []), stream]);
    const most = [...byAccount.values()].reduce((a, b) => (b.length > a.length ? b : a));
    const newest = most.at(-1);
    if (newest === undefined || most.length < (byAccount.get(accountId)?.length ?? 0) + 2) return false;
    opened.delete(newest);
    newest.destroy();
    return true;
  };
  return {
    get openCount() {
      return opened.size;
    },
    open({ accountId, isValid }, feed) {
      if (opened.size >= streamsMax && !makeRoom(accountId)) refuse(streamsMax, '');
      const ofAccount = [...opened.values()].filter((one) => one.accountId === accountId).length;
      if (ofAccount >= streamsOfAccountMax) refuse(streamsOfAccountMax, ' of the account');
      const stream = new PassThrough();
      const write = (text: string): void => {
        if (stream.writableEnded || stream.destroyed) return;
        stream.write(text);
        if (unread(stream) > unreadBytesMax) stream.destroy();
      };
      let isChecking = false;
      const check = async (): Promise<void> => {
        isChecking = true;
        const holds = await isValid().catch(() => false);
        isChecking = false;
        if (holds) return;
        // A reader that has not read everything is cut off, because `end` would deliver the rest.
        if (unread(stream) === 0) stream.end();
        else stream.destroy();
      };
      const keepAlive = setInterval(() => {
        write(': still here\n\n');
        // A check that is still running counts as failed: the reader reconnects and is checked again.
        if (isChecking) stream.destroy();
        else void check();
      }, keepAliveMs);
      opened.set(stream, { accountId, check });
      write('retry: 2000\n\n');
      const unsubscribe = feed.subscribe((value) => write(`data: ${JSON.stringify(value)}\n\n`));
      stream.once('close', () => {
        opened.delete(stream);
        clearInterval(keepAlive);
        unsubscribe();
      });
      return stream;
    },
    async recheck(accountId) {
      await Promise.all([...opened.values()].filter((one) => one.accountId === accountId).map((one) => one.check()));
    },
    stop() {
      for (const stream of opened.keys()) stream.end();
    },
  };
}
