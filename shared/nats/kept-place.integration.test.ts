import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestNodes } from '../testing/nats-nodes.ts';
import { consumerOfNumbers, putNumbers, takeAll, textsOf } from '../testing/numbered-messages.ts';
import { testTopology } from '../testing/test-topology.ts';
import type { TestNodes } from '../testing/nats-nodes.ts';
import { client } from './connection/client.ts';
import { connectLog } from './connection/connection.ts';
import type { LogConnection } from './connection/connection.ts';
import { whileForming } from './connection/while-forming.ts';
import { retry } from '../runtime/retry.ts';
import type { DurableConsumer } from './consume/consumers.ts';
import { openPullConsumer } from './consume/pull-consumer.ts';
import type { PullConsumer } from './consume/pull-consumer.ts';
import type { FinishedMessages } from './consume/taken-messages.ts';
import { ensureTopology } from './streams/topology.ts';

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

const put = (account: string, from: number, to: number): Promise<void> => putNumbers(connection, account, from, to);

/** Opens the next reader, which knows what the previous one finished. */
const openAt = (consumer: DurableConsumer, finished: FinishedMessages): Promise<PullConsumer> =>
  openPullConsumer(connection, { consumer, bufferedMax: 10, finishedBefore: () => Promise.resolve(finished) });

/** Repeats `work` until the log is available again. */
const untilBack = <Result>(work: () => Promise<Result>): Promise<Result> =>
  retry(work, { signal: AbortSignal.timeout(60_000), isPassing: () => true });

/** Kills and restarts all three servers at once: what was only in memory is lost. */
async function restartAll(): Promise<void> {
  await Promise.all(cluster.nodes.map((node) => node.kill()));
  await Promise.all(cluster.nodes.map((node) => node.start()));
}

test('kept place: a reader continues from its position after all nodes were killed at once', async () => {
  await put('alive', 0, 8);
  const reader = await openPullConsumer(connection, {
    consumer: consumerOfNumbers('alive', 'by-reader'),
    bufferedMax: 10,
  });
  const had = await takeAll(reader, 6);
  for (const message of had.slice(0, 4)) expect(await message.ackConfirmed(2_000)).toBe(true);
  had[5]?.finish();
  await restartAll();
  await untilBack(() => put('alive', 8, 10));
  // Message 4 is in flight, and message 5 is finished.
  expect(textsOf(await takeAll(reader, 4))).toEqual(['6', '7', '8', '9']);
  await reader.close();
});

test('kept place: the next reader begins after the finished messages', async () => {
  await untilBack(() => put('handed-on', 0, 8));
  const consumer = consumerOfNumbers('handed-on', 'by-reader');
  // A stream may have a leader before the cluster has one, and the cluster's leader creates consumers.
  const reader = await untilBack(() => openPullConsumer(connection, { consumer, bufferedMax: 10 }));
  const had = await takeAll(reader, 6);
  for (const message of had.slice(0, 4)) await message.ackConfirmed(2_000);
  had[5]?.finish();
  const { finished } = reader;
  await reader.close();
  await restartAll();
  // The log may have no leader yet.
  const next = await untilBack(() => openAt(consumer, finished));
  expect(textsOf(await takeAll(next, 3))).toEqual(['4', '6', '7']);
  const { config } = await connection[client].jsm.consumers.info(consumer.stream, consumer.name);
  expect(config.opt_start_seq).toBe(finished.upTo + 1);
  await next.close();
});

test('kept place: a sequence that the log has since given to another message is not skipped', async () => {
  await untilBack(() => put('reused', 0, 3));
  const consumer = consumerOfNumbers('reused', 'by-reader');
  const reader = await openPullConsumer(connection, { consumer, bufferedMax: 10 });
  const had = await takeAll(reader, 3);
  await reader.close();
  const upTo = had.at(-1)?.seq ?? 0;
  // The finished message was stored before the message that has its sequence now.
  await connection[client].jsm.consumers.delete(consumer.stream, consumer.name);
  const storedUntilMs = (had.at(-1)?.storedAtMs ?? 0) - 60_000;
  const next = await openAt(consumer, { upTo, above: [], storedUntilMs });
  expect(textsOf(await takeAll(next, 3))).toEqual(['0', '1', '2']);
  await next.close();
});

test('kept place: if the log ends before the position, finished messages are not delivered again, and newer ones are', async () => {
  await untilBack(() => put('ahead', 0, 3));
  const consumer = consumerOfNumbers('ahead', 'by-reader');
  const reader = await openPullConsumer(connection, { consumer, bufferedMax: 10 });
  const had = await takeAll(reader, 3);
  await reader.close();
  const { seq = 0, storedAtMs: storedUntilMs = 0 } = had.at(-1) ?? {};
  const next = await openAt(consumer, { upTo: seq + 1_000, above: [seq + 1_002], storedUntilMs });
  await put('ahead', 3, 5);
  expect(textsOf(await takeAll(next, 2))).toEqual(['3', '4']);
  await next.close();
});
