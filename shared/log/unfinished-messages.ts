import type { LogConnection } from './connection.ts';
import type { DurableConsumer } from './consumers.ts';
import { isNoMessage } from './server-error.ts';

export type StoredMessage = { readonly seq: number; readonly data: Uint8Array; readonly storedAtMs: number };

type ConsumerPlace = Pick<DurableConsumer, 'stream' | 'name' | 'filterSubject'>;

/**
 * Reads what was handed out by a durable consumer from its first unacknowledged message on, in the order of the
 * stream. Whoever had those messages may be gone; the server would give them out again only after the ack wait,
 * behind newer ones. Messages acknowledged in between are read too. Nothing is acknowledged here. There are at most
 * as many as the consumer may have pending, unless others were acknowledged out of order.
 */
export async function readUnfinished(connection: LogConnection, consumer: ConsumerPlace): Promise<StoredMessage[]> {
  const messages: StoredMessage[] = [];
  const info = await connection.jsm.consumers.info(consumer.stream, consumer.name);
  if (info.num_ack_pending === 0) return messages;
  let seq = info.ack_floor.stream_seq + 1;
  while (seq <= info.delivered.stream_seq) {
    const message = await nextMessage(connection, consumer, seq);
    if (message === undefined || message.seq > info.delivered.stream_seq) break;
    messages.push(message);
    seq = message.seq + 1;
  }
  return messages;
}

/** When the oldest message a consumer has not finished was stored, in ms since the epoch; undefined when none waits. */
export async function oldestUnfinishedAtMs(
  connection: LogConnection,
  consumer: ConsumerPlace,
): Promise<number | undefined> {
  const info = await connection.jsm.consumers.info(consumer.stream, consumer.name);
  if (info.num_pending + info.num_ack_pending === 0) return undefined;
  const message = await nextMessage(connection, consumer, info.ack_floor.stream_seq + 1);
  return message?.storedAtMs;
}

async function nextMessage(
  connection: LogConnection,
  consumer: ConsumerPlace,
  fromSeq: number,
): Promise<StoredMessage | undefined> {
  try {
    const request = { seq: fromSeq, next_by_subj: consumer.filterSubject };
    const { seq, data, time } = await connection.jsm.streams.getMessage(consumer.stream, request);
    return { seq, data, storedAtMs: time.getTime() };
  } catch (error) {
    if (isNoMessage(error)) return undefined;
    throw error;
  }
}
