import { AckPolicy, DeliverPolicy, ReplayPolicy, nanos } from 'nats';
import type { ConsumerConfig, ConsumerInfo, Msg } from 'nats';
import { client } from '../connection/client.ts';
import type { LogConnection } from '../connection/connection.ts';
import { every, tickMs } from '../../runtime/every.ts';
import { readLogMessage } from './log-message.ts';
import type { LogMessage } from './log-message.ts';
import { readNext } from './subject-log.ts';

export type ReadMessagesOptions = {
  readonly stream: string;
  readonly filterSubject: string;
  /**
   * Where to begin: at the first message stored at or after a time, in ms since the epoch, or at the first message with
   * this sequence or a later sequence. `last-of-each-subject` reads only the last message of each subject.
   *
   * A server that lags behind the stream's leader ends the reading too early. With `toSeq`, a reading that ends before
   * this sequence has every message up to there that the leader has.
   */
  readonly from:
    | { readonly timeMs: number }
    | { readonly seq: number; readonly toSeq?: number }
    | 'last-of-each-subject';
  /** What the server sends of each message. */
  readonly content: 'headers' | 'all';
  /** Number of messages per request; two requests are open at a time. */
  readonly messagesPerPull: number;
  /** Called once for each message, in the order of the stream. `false` ends the reading. */
  onMessage(message: LogMessage): boolean | void;
  /** Throws ReadMessagesError if messages are left and the server sends nothing for this long, in ms. */
  readonly silenceMaxMs: number;
  readonly signal?: AbortSignal;
};

export class ReadMessagesError extends Error {
  readonly code = 'read_messages';
}

const pullExpiresMs = 5_000;
/** Time without a message after which a pull is abandoned, in ms. */
const pullSilenceMs = pullExpiresMs + 2_000;
/** Time without a message after which the reader asks the server whether messages are left, in ms. */
const askAfterMs = tickMs;

/**
 * Reads the messages that a subject has now, and returns their number. Continues after a lost connection. Acknowledges
 * nothing.
 */
export async function readMessages(connection: LogConnection, options: ReadMessagesOptions): Promise<number> {
  let messages = 0;
  let lastSeq: number | undefined;
  let isStopped = false;
  let lastProgressMs = performance.now();
  for (;;) {
    options.signal?.throwIfAborted();
    let failure: unknown;
    try {
      const from = lastSeq === undefined ? options.from : { seq: lastSeq + 1 };
      const ended = await readOnce(connection, { ...options, from }, (message) => {
        lastSeq = message.seq;
        messages += 1;
        lastProgressMs = performance.now();
        isStopped = options.onMessage(message) === false;
        return !isStopped;
      });
      if (ended && (isStopped || !(await isLeft(connection, options, lastSeq)))) return messages;
      if (ended) throw new Error('the server that was read lags behind the leader of the stream');
    } catch (error) {
      if (error instanceof ReadMessagesError) throw error;
      failure = error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    if (performance.now() - lastProgressMs > options.silenceMaxMs) {
      throw new ReadMessagesError(`reading ${options.filterSubject}: nothing came`, { cause: failure });
    }
  }
}

/** Whether the stream's leader has a message up to `toSeq` that was not read. */
async function isLeft(
  connection: LogConnection,
  { stream, filterSubject, from }: ReadMessagesOptions,
  lastSeq: number | undefined,
): Promise<boolean> {
  if (typeof from !== 'object' || !('seq' in from) || from.toSeq === undefined) return false;
  const nextSeq = lastSeq === undefined ? from.seq : lastSeq + 1;
  if (nextSeq > from.toSeq) return false;
  const next = await readNext(connection, stream, filterSubject, nextSeq);
  return next !== undefined && next.seq <= from.toSeq;
}

/** Header with the size of a message, in bytes. The server adds it if it sends headers only. */
const sizeHeader = 'Nats-Msg-Size';
const sizesPerPull = 256;
const sizesSilenceMs = 5_000;

/**
 * The total bytes of those messages under `filterSubject` (wildcards allowed) whose subject `counts` accepts, plus
 * `headBytes` for each message.
 */
export async function sumBytes(
  connection: LogConnection,
  stream: string,
  filterSubject: string,
  counts: (subject: string) => boolean = () => true,
  headBytes = 0,
): Promise<number> {
  let bytes = 0;
  await readMessages(connection, {
    stream,
    filterSubject,
    from: { seq: 1 },
    content: 'headers',
    messagesPerPull: sizesPerPull,
    silenceMaxMs: sizesSilenceMs,
    onMessage({ subject, header }) {
      if (counts(subject)) bytes += Number(header(sizeHeader) ?? 0) + headBytes;
    },
  });
  return bytes;
}

type OnMessage = ReadMessagesOptions['onMessage'];

/** Reads with one ephemeral consumer; true once it has reached the end, false if it was cut off. */
async function readOnce(
  connection: LogConnection,
  options: ReadMessagesOptions,
  onMessage: OnMessage,
): Promise<boolean> {
  const info = await connection[client].jsm.consumers.add(options.stream, consumerConfig(options));
  try {
    return info.num_pending === 0 || (await pullAll(connection, info, options, onMessage));
  } finally {
    // Without a connection the server removes the consumer by itself.
    if (connection.connected)
      await connection[client].jsm.consumers.delete(options.stream, info.name).catch(() => false);
  }
}

/**
 * Pulls until no message is pending, with two open requests so that the server never waits. Messages go to the callback
 * as they are parsed, so none accumulate. Nothing is acknowledged: messages dropped by a broken connection are not sent
 * again, so a break ends the reading.
 */
function pullAll(
  connection: LogConnection,
  { stream_name: stream, name }: ConsumerInfo,
  { signal, messagesPerPull }: ReadMessagesOptions,
  onMessage: OnMessage,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const inbox = connection[client].createInbox();
    let requested = 0;
    let received = 0;
    let ended = false;
    const subscription = connection[client].nc.subscribe(inbox, { callback: (_error, message) => receive(message) });
    const silence = setTimeout(() => end(() => resolve(false)), pullSilenceMs);
    let receivedBefore = -1;
    // If messages are removed before the server delivers them, no received message has a pending count of 0.
    const asking = every(askAfterMs, async () => {
      const isSilent = received === receivedBefore;
      receivedBefore = received;
      if (isSilent && (await isAllDelivered(connection, { stream, name }, received))) end(() => resolve(true));
    });
    const offDisconnect = connection.onDisconnect(() => end(() => resolve(false)));
    const onAbort = (): void =>
      end(() => reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted')));
    signal?.addEventListener('abort', onAbort, { once: true });

    const end = (settle: () => void): void => {
      if (ended) return;
      ended = true;
      clearTimeout(silence);
      void asking.stop();
      offDisconnect();
      signal?.removeEventListener('abort', onAbort);
      subscription.unsubscribe();
      settle();
    };
    const pull = (): void => {
      requested += messagesPerPull;
      const request = JSON.stringify({ batch: messagesPerPull, expires: nanos(pullExpiresMs) });
      connection[client].nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`, request, { reply: inbox });
    };
    const receive = (pulled: Msg): void => {
      const message = readLogMessage(connection, pulled);
      // A status message of the server: a request ended early. The silence timer decides whether that matters.
      if (message === undefined || ended) return;
      silence.refresh();
      requested -= 1;
      received += 1;
      try {
        if (onMessage(message) === false) {
          end(() => resolve(true));
          return;
        }
      } catch (error) {
        // Reading the message again would fail in the same way.
        end(() =>
          reject(new ReadMessagesError(`reading ${message.subject}: a message cannot be read`, { cause: error })),
        );
        return;
      }
      if (ended) return;
      if (message.pending === 0) end(() => resolve(true));
      else if (requested <= messagesPerPull) pull();
    };
    pull();
    pull();
  });
}

/** Whether the server has no message left for a consumer, and has delivered no more than were received. */
async function isAllDelivered(
  connection: LogConnection,
  { stream, name }: { readonly stream: string; readonly name: string },
  received: number,
): Promise<boolean> {
  try {
    const { num_pending: pending, delivered } = await connection[client].jsm.consumers.info(stream, name);
    return pending === 0 && delivered.consumer_seq === received;
  } catch {
    // The reader asks again after the next silence, until it abandons the pull.
    return false;
  }
}

function startOf(from: ReadMessagesOptions['from']): Partial<ConsumerConfig> {
  if (from === 'last-of-each-subject') return { deliver_policy: DeliverPolicy.LastPerSubject };
  if ('seq' in from) return { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: Math.max(1, from.seq) };
  return { deliver_policy: DeliverPolicy.StartTime, opt_start_time: new Date(from.timeMs).toISOString() };
}

function consumerConfig({ from, filterSubject, content }: ReadMessagesOptions): Partial<ConsumerConfig> {
  return {
    ...startOf(from),
    filter_subject: filterSubject,
    ack_policy: AckPolicy.None,
    replay_policy: ReplayPolicy.Instant,
    headers_only: content === 'headers',
    mem_storage: true,
    num_replicas: 1,
    max_deliver: 1,
    inactive_threshold: nanos(30_000),
  };
}
