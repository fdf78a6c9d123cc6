import type { LogConnection } from '../connection/connection.ts';
import { isNoMessage } from '../connection/server-error.ts';
import type { DurableConsumer } from './consumers.ts';

type ConsumerPlace = Pick<DurableConsumer, 'stream' | 'name' | 'filterSubject'>;

/** When the oldest message a consumer has not finished was stored, in ms since the epoch; undefined when none waits. */
export async function oldestUnfinishedAtMs(
  connection: LogConnection,
  consumer: ConsumerPlace,
): Promise<number | undefined> {
  const info = await connection.jsm.consumers.info(consumer.stream, consumer.name);
  if (info.num_pending + info.num_ack_pending === 0) return undefined;
  const request = { seq: info.ack_floor.stream_seq + 1, next_by_subj: consumer.filterSubject };
  try {
    return (await connection.jsm.streams.getMessage(consumer.stream, request)).time.getTime();
  } catch (error) {
    if (isNoMessage(error)) return undefined;
    throw error;
  }
}

/** How many messages a consumer has not been given yet. */
export async function countWaiting(
  connection: LogConnection,
  consumer: Pick<DurableConsumer, 'stream' | 'name'>,
): Promise<number> {
  return (await connection.jsm.consumers.info(consumer.stream, consumer.name)).num_pending;
}
