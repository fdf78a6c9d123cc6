import { AckPolicy, DeliverPolicy, ReplayPolicy, createInbox, nanos } from 'nats';
import type { ConsumerConfig, ConsumerInfo, Msg } from 'nats';
import type { LogConnection } from './connection.ts';
import { readDelivery } from './delivery.ts';
import type { Delivery } from './delivery.ts';

export type ReadHeadersOptions = {
  readonly stream: string;
  readonly filterSubject: string;
  /** Messages stored before this are skipped, in ms since the epoch. */
  readonly sinceMs: number;
  readonly header: string;
  /** Called in the order of the stream, once a message that carries the header. */
  onValue(value: string, storedAtMs: number): void;
  /** Gives up when the server sends nothing for this long though messages wait, in ms. */
  readonly silenceMaxMs: number;
  readonly signal?: AbortSignal;
};

export class ReadHeadersError extends Error {
  readonly code = 'read_headers';
}

const messagesPerPull = 2_000;
const pullExpiresMs = 5_000;
/** A pull that brings nothing for this long is given up. */
const pullSilenceMs = pullExpiresMs + 2_000;

/**
 * Reads one header of every message of a stream from a point in time up to now, without the messages themselves.
 * Returns how many messages there were. A loss of the connection on the way is made up for.
 */
export async function readHeaders(connection: LogConnection, options: ReadHeadersOptions): Promise<number> {
  let messages = 0;
  let lastSeq: number | undefined;
  let lastProgressMs = performance.now();
  for (;;) {
    options.signal?.throwIfAborted();
    let failure: unknown;
    try {
      const caughtUp = await readOnce(connection, options, lastSeq, (message) => {
        lastSeq = message.seq;
        messages += 1;
        lastProgressMs = performance.now();
        const value = message.header(options.header);
        if (value !== undefined) options.onValue(value, message.storedAtMs);
      });
      if (caughtUp) return messages;
    } catch (error) {
      failure = error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    if (performance.now() - lastProgressMs > options.silenceMaxMs) {
      throw new ReadHeadersError(`reading headers of ${options.filterSubject}: nothing came`, { cause: failure });
    }
  }
}

/** Reads with one ephemeral consumer; true when it reached the end, false when it was cut off. */
async function readOnce(
  connection: LogConnection,
  options: ReadHeadersOptions,
  afterSeq: number | undefined,
  onMessage: (message: Delivery) => void,
): Promise<boolean> {
  const info = await connection.jsm.consumers.add(options.stream, consumerConfig(options, afterSeq));
  try {
    return info.num_pending === 0 || (await pullAll(connection, info, options.signal, onMessage));
  } finally {
    // Without a connection the server removes it by itself.
    if (connection.connected) await connection.jsm.consumers.delete(options.stream, info.name).catch(() => false);
  }
}

/**
 * Pulls until nothing is pending, two requests ahead so that the server never waits for us. Messages go to the
 * callback as they are parsed, so none piles up. Nothing is acknowledged: what a broken connection dropped is not sent
 * again, so a break ends the reading.
 */
function pullAll(
  connection: LogConnection,
  { stream_name: stream, name }: ConsumerInfo,
  signal: AbortSignal | undefined,
  onMessage: (message: Delivery) => void,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const inbox = createInbox();
    let requested = 0;
    let ended = false;
    const subscription = connection.nc.subscribe(inbox, { callback: (_error, message) => receive(message) });
    const silence = setTimeout(() => end(() => resolve(false)), pullSilenceMs);
    const offDisconnect = connection.onDisconnect(() => end(() => resolve(false)));
    const onAbort = (): void =>
      end(() => reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted')));
    signal?.addEventListener('abort', onAbort, { once: true });

    const end = (settle: () => void): void => {
      ended = true;
      clearTimeout(silence);
      offDisconnect();
      signal?.removeEventListener('abort', onAbort);
      subscription.unsubscribe();
      settle();
    };
    const pull = (): void => {
      requested += messagesPerPull;
      const request = JSON.stringify({ batch: messagesPerPull, expires: nanos(pullExpiresMs) });
      connection.nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`, request, { reply: inbox });
    };
    const receive = (message: Msg): void => {
      const delivery = readDelivery(connection, message);
      // A status of the server: a request ended early. The silence timer decides whether that matters.
      if (delivery === undefined || ended) return;
      silence.refresh();
      requested -= 1;
      try {
        onMessage(delivery);
      } catch (error) {
        end(() => reject(error instanceof Error ? error : new Error(String(error))));
        return;
      }
      if (ended) return;
      if (delivery.pending === 0) end(() => resolve(true));
      else if (requested <= messagesPerPull) pull();
    };
    pull();
    pull();
  });
}

function consumerConfig(options: ReadHeadersOptions, afterSeq: number | undefined): Partial<ConsumerConfig> {
  const start =
    afterSeq === undefined
      ? { deliver_policy: DeliverPolicy.StartTime, opt_start_time: new Date(options.sinceMs).toISOString() }
      : { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: afterSeq + 1 };
  return {
    ...start,
    filter_subject: options.filterSubject,
    ack_policy: AckPolicy.None,
    replay_policy: ReplayPolicy.Instant,
    headers_only: true,
    mem_storage: true,
    num_replicas: 1,
    max_deliver: 1,
    inactive_threshold: nanos(30_000),
  };
}
