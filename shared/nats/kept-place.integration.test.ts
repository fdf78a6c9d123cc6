import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventsSubject } from '../contracts/subjects.ts';
import { startTestNodes } from '../testing/nats-nodes.ts';
import { testTopology } from '../testing/test-topology.ts';
import type { TestNodes } from '../testing/nats-nodes.ts';
import { client } from './connection/client.ts';
import { connectLog } from './connection/connection.ts';
import type { LogConnection } from './connection/connection.ts';
import { whileForming } from './connection/while-forming.ts';
import { retry } from '../runtime/retry.ts';
import type { DurableConsumer, PlaceKept } from './consume/consumers.ts';
import { openPullConsumer } from './consume/pull-consumer.ts';
import type { PullConsumer } from './consume/pull-consumer.ts';
import type { LogMessage } from './messages/log-message.ts';
import { publish } from './publish/publisher.ts';
import { ensureTopology, streams } from './streams/topology.ts';

const bytesMax = 16 * 1024 ** 2;

let cluster: TestNodes;
let connection: LogConnection;

beforeAll(async () => {
  cluster = await startTestNodes();
  connection = await connectLog({ url: cluster.url, name: 'test' });
  await whileForming(() => ensureTopology(connection, testTopology({ replicas: 3, streamBytesMax: bytesMax })));
});
afterAll(async () => {
  await connection.close();
  await cluster.stop();
});

const consumerOf = (account: string, placeIsKept: PlaceKept): DurableConsumer => ({
  stream: streams.events,
  name: `reader-${account}`,
  filterSubject: eventsSubject(account, 0),
  startFrom: 'first',
  ackWaitMs: 30_000,
  ackPendingMax: 100,
  placeIsKept,
});

async function put(account: string, from: number, to: number): Promise<void> {
  for (let n = from; n < to; n += 1) {
    await publish(connection, eventsSubject(account, 0), Buffer.from(String(n)), {
      msgId: `${account}-${n}`,
      timeoutMs: 5_000,
    });
  }
}

const texts = (messages: readonly LogMessage[]): string[] => messages.map(({ data }) => Buffer.from(data).toString());

async function takeAll(pullConsumer: PullConsumer, count: number): Promise<LogMessage[]> {
  const taken: LogMessage[] = [];
  while (taken.length < count) taken.push(...(await pullConsumer.take(count - taken.length)));
  return taken;
}

/** Tries until the log is there again. */
const untilBack = <Result>(work: () => Promise<Result>): Promise<Result> =>
  retry(work, { signal: AbortSignal.timeout(60_000), isPassing: () => true });

/** All three at once: what they had in memory alone is gone. */
async function restartAll(): Promise<void> {
  await Promise.all(cluster.nodes.map((node) => node.kill()));
  await Promise.all(cluster.nodes.map((node) => node.start()));
}

test('kept place: only a consumer whose reader keeps its place is kept in memory', async () => {
  const inMemory = async (consumer: DurableConsumer) => {
    await (await openPullConsumer(connection, { consumer, bufferedMax: 1 })).close();
    return (await connection[client].jsm.consumers.info(consumer.stream, consumer.name)).config.mem_storage ?? false;
  };
  expect(await inMemory(consumerOf('kept', 'by-ids'))).toBe(true);
  expect(await inMemory(consumerOf('unkept', 'nobody'))).toBe(false);
});

test('kept place: a reader goes on where it was after all nodes were killed at once', async () => {
  await put('alive', 0, 8);
  const reader = await openPullConsumer(connection, { consumer: consumerOf('alive', 'by-reader'), bufferedMax: 10 });
  const had = await takeAll(reader, 6);
  for (const message of had.slice(0, 4)) expect(await message.ackConfirmed(2_000)).toBe(true);
  had[5]?.finish();
  await restartAll();
  await untilBack(() => put('alive', 8, 10));
  // The fifth is in hand, and the sixth is done.
  expect(texts(await takeAll(reader, 4))).toEqual(['6', '7', '8', '9']);
  await reader.close();
});

test('kept place: the next reader begins behind what was finished', async () => {
  await untilBack(() => put('handed-on', 0, 8));
  const consumer = consumerOf('handed-on', 'by-reader');
  const reader = await openPullConsumer(connection, { consumer, bufferedMax: 10 });
  const had = await takeAll(reader, 6);
  for (const message of had.slice(0, 4)) await message.ackConfirmed(2_000);
  had[5]?.finish();
  const { finished } = reader;
  await reader.close();
  await restartAll();
  const next = await untilBack(async () => {
    const reader = await openPullConsumer(connection, { consumer, bufferedMax: 10 });
    // The log may have no leader yet.
    await reader.restore([finished]).catch(async (error: unknown) => {
      await reader.close();
      throw error;
    });
    return reader;
  });
  expect(texts(await takeAll(next, 3))).toEqual(['4', '6', '7']);
  const { config } = await connection[client].jsm.consumers.info(consumer.stream, consumer.name);
  expect(config.opt_start_seq).toBe(finished.upTo + 1);
  await next.close();
});

test('kept place: a sequence the log has given to another message since is not skipped', async () => {
  await untilBack(() => put('reused', 0, 3));
  const consumer = consumerOf('reused', 'by-reader');
  const reader = await openPullConsumer(connection, { consumer, bufferedMax: 10 });
  const had = await takeAll(reader, 3);
  await reader.close();
  const upTo = had.at(-1)?.seq ?? 0;
  // Stored before the message that has the sequence now.
  await connection[client].jsm.consumers.delete(consumer.stream, consumer.name);
  const next = await openPullConsumer(connection, { consumer, bufferedMax: 10 });
  await next.restore([{ upTo, above: [], storedUntilMs: (had.at(-1)?.storedAtMs ?? 0) - 60_000 }]);
  expect(texts(await takeAll(next, 3))).toEqual(['0', '1', '2']);
  await next.close();
});
