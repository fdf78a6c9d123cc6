import type { LogConnection } from './connection.ts';
import type { DurableConsumer } from './consumers.ts';

/** How many messages a consumer has not been given yet. */
export async function countWaiting(
  connection: LogConnection,
  consumer: Pick<DurableConsumer, 'stream' | 'name'>,
): Promise<number> {
  return (await connection.jsm.consumers.info(consumer.stream, consumer.name)).num_pending;
}
