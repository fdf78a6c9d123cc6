import { AckPolicy, DeliverPolicy, ReplayPolicy, nanos } from 'nats';
import type { ConsumerConfig, JsMsg } from 'nats';
import type { LogConnection } from './connection.ts';

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

const messagesPerPull = 1_000;
const pullExpiresMs = 2_000;

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
        const value = message.headers?.get(options.header);
        if (value !== undefined && value !== '') {
          options.onValue(value, Math.floor(message.info.timestampNanos / 1e6));
        }
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

/** Reads with one ephemeral consumer; true when it reached the end, false when a message went missing. */
async function readOnce(
  connection: LogConnection,
  options: ReadHeadersOptions,
  afterSeq: number | undefined,
  onMessage: (message: JsMsg) => void,
): Promise<boolean> {
  const info = await connection.jsm.consumers.add(options.stream, consumerConfig(options, afterSeq));
  try {
    let pending = info.num_pending;
    let delivered = 0;
    const consumer = connection.js.consumers.getPullConsumerFor(info);
    while (pending > 0) {
      options.signal?.throwIfAborted();
      let received = 0;
      const wanted = Math.min(messagesPerPull, pending);
      for await (const message of await consumer.fetch({ max_messages: wanted, expires: pullExpiresMs })) {
        delivered += 1;
        // Nothing is acknowledged, so what the connection dropped is not sent again: start anew behind the last one.
        if (message.info.deliverySequence !== delivered) return false;
        received += 1;
        pending = message.info.pending;
        onMessage(message);
      }
      if (received === 0) return false;
    }
    return true;
  } finally {
    await connection.jsm.consumers.delete(options.stream, info.name).catch(() => false);
  }
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
    // The server removes it by itself should we die.
    inactive_threshold: nanos(30_000),
  };
}
