import { client } from '../connection/client.ts';
import type { LogConnection } from '../connection/connection.ts';
import { readNext } from '../messages/subject-log.ts';
import type { DurableConsumer } from './consumers.ts';

type ConsumerPlace = Pick<DurableConsumer, 'stream' | 'name' | 'filterSubject'>;

/**
 * When the oldest unfinished message of a consumer was stored, in ms since the epoch; undefined if all are finished.
 */
export async function oldestUnfinishedAtMs(
  connection: LogConnection,
  consumer: ConsumerPlace,
): Promise<number | undefined> {
  const info = await connection[client].jsm.consumers.info(consumer.stream, consumer.name);
  if (info.num_pending + info.num_ack_pending === 0) return undefined;
  const { stream, filterSubject } = consumer;
  return (await readNext(connection, stream, filterSubject, info.ack_floor.stream_seq + 1))?.storedAtMs;
}
