import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventsSubject } from '../contracts/subjects.ts';
import type { NatsServer } from '../embedded/nats/nats-server.ts';
import { createNatsFolder, startTestNats } from '../testing/servers.ts';
import { testTopology } from '../testing/test-topology.ts';
import { client } from './connection/client.ts';
import { connectLog } from './connection/connection.ts';
import type { LogConnection } from './connection/connection.ts';
import type { DurableConsumer, PlaceKept } from './consume/consumers.ts';
import { openPullConsumer } from './consume/pull-consumer.ts';
import type { ConsumerTrouble, PullConsumer } from './consume/pull-consumer.ts';
import type { LogMessage } from './messages/log-message.ts';
import { publish } from './publish/publisher.ts';
import { ensureTopology, streams } from './streams/topology.ts';

let storeDir: string;
let server: NatsServer;
let connection: LogConnection;

beforeAll(async () => {
  storeDir = await createNatsFolder();
  server = await startTestNats({ storeDir });
  connection = await connectLog({ url: server.url, name: 'test' });
  await ensureTopology(connection, testTopology());
});
afterAll(async () => {
  await connection.close();
  await server.stop();
});

const consumerOf = (account: string, placeIsKept: PlaceKept = 'by-reader'): DurableConsumer => ({
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

/** What was in memory alone is gone. */
async function restartServer(): Promise<void> {
  const { port } = server;
  const back = new Promise<void>((resolve) => {
    const off = connection.onReconnect(() => {
      off();
      resolve();
    });
  });
  await server.kill();
  server = await startTestNats({ storeDir, port });
  await back;
}

test('kept in memory: on a single server only of a reader that restores its place itself', async () => {
  const inMemory = async (consumer: DurableConsumer) => {
    await (await openPullConsumer(connection, { consumer, bufferedMax: 1 })).close();
    return (await connection[client].jsm.consumers.info(consumer.stream, consumer.name)).config.mem_storage ?? false;
  };
  expect(await inMemory(consumerOf('by-reader'))).toBe(true);
  expect(await inMemory(consumerOf('by-ids', 'by-ids'))).toBe(false);
  expect(await inMemory(consumerOf('nobody', 'nobody'))).toBe(false);
});

test('kept in memory: a reader that lives on gets what it gave back before what is newer, and nothing it finished', async () => {
  await put('alive', 0, 8);
  const troubles: ConsumerTrouble[] = [];
  const reader = await openPullConsumer(connection, {
    consumer: consumerOf('alive'),
    bufferedMax: 10,
    onTrouble: (trouble) => troubles.push(trouble),
  });
  const had = await takeAll(reader, 6);
  for (const at of [0, 1, 3, 5]) await had[at]?.ackConfirmed(2_000);
  had[2]?.release();
  await restartServer();
  await put('alive', 8, 9);
  // The fifth is in hand.
  expect(texts(await takeAll(reader, 4))).toEqual(['2', '6', '7', '8']);
  expect(troubles).toContainEqual({ kind: 'made-anew' });
  await reader.close();
});

test('kept in memory: a reader that was given nothing since it began is given nothing it had finished before', async () => {
  await put('idle', 0, 5);
  const consumer = consumerOf('idle');
  const earlier = await openPullConsumer(connection, { consumer, bufferedMax: 10 });
  for (const message of await takeAll(earlier, 5)) await message.ackConfirmed(2_000);
  await earlier.close();
  const reader = await openPullConsumer(connection, { consumer, bufferedMax: 10 });
  await restartServer();
  await put('idle', 5, 7);
  expect(texts(await takeAll(reader, 2))).toEqual(['5', '6']);
  await reader.close();
});

test('kept in memory: the next reader begins behind what was finished, also where a new consumer would begin later', async () => {
  await put('handed-on', 0, 6);
  const consumer = consumerOf('handed-on');
  const earlier = await openPullConsumer(connection, { consumer, bufferedMax: 10 });
  const had = await takeAll(earlier, 4);
  for (const message of had.slice(0, 2)) await message.ackConfirmed(2_000);
  had[3]?.finish();
  const { finished } = earlier;
  await earlier.close();
  await restartServer();
  const troubles: ConsumerTrouble[] = [];
  const next = await openPullConsumer(connection, {
    consumer: { ...consumer, startFrom: 'next' },
    bufferedMax: 10,
    onTrouble: (trouble) => troubles.push(trouble),
  });
  await next.restore([finished]);
  expect(troubles).toEqual([{ kind: 'forgotten', upTo: finished.upTo }]);
  await put('handed-on', 6, 7);
  expect(texts(await takeAll(next, 4))).toEqual(['2', '4', '5', '6']);
  await next.close();
});

test('kept in memory: a consumer that is gone is made where its reader is known to have been', async () => {
  await put('known', 0, 4);
  const consumer = consumerOf('known');
  const earlier = await openPullConsumer(connection, { consumer, bufferedMax: 10 });
  for (const message of await takeAll(earlier, 2)) await message.ackConfirmed(2_000);
  const { finished } = earlier;
  await earlier.close();
  await restartServer();
  const next = await openPullConsumer(connection, {
    consumer: { ...consumer, startFrom: 'next' },
    placeBefore: () => Promise.resolve(finished),
    bufferedMax: 10,
  });
  // Whoever makes room in the log goes by this.
  const { ack_floor: acked } = await connection[client].jsm.consumers.info(consumer.stream, consumer.name);
  expect(acked.stream_seq).toBe(finished.upTo);
  await next.restore([finished]);
  expect(texts(await takeAll(next, 2))).toEqual(['2', '3']);
  await next.close();
});

test('kept in memory: a reader that had nothing yet is followed by one that gets all there is', async () => {
  const consumer = consumerOf('unbegun');
  const earlier = await openPullConsumer(connection, { consumer, bufferedMax: 10 });
  const { finished } = earlier;
  await earlier.close();
  await put('unbegun', 0, 3);
  await restartServer();
  const next = await openPullConsumer(connection, { consumer: { ...consumer, startFrom: 'next' }, bufferedMax: 10 });
  await next.restore([finished]);
  expect(texts(await takeAll(next, 3))).toEqual(['0', '1', '2']);
  await next.close();
});

test('kept in memory: where the last that was finished has left the log, the next reader begins with what is there', async () => {
  await put('purged', 0, 6);
  const consumer = consumerOf('purged');
  const earlier = await openPullConsumer(connection, { consumer, bufferedMax: 10 });
  const had = await takeAll(earlier, 3);
  for (const message of had) await message.ackConfirmed(2_000);
  const { finished } = earlier;
  await earlier.close();
  await connection[client].jsm.streams.purge(streams.events, {
    filter: consumer.filterSubject,
    seq: (had.at(-1)?.seq ?? 0) + 1,
  });
  await restartServer();
  const next = await openPullConsumer(connection, { consumer: { ...consumer, startFrom: 'next' }, bufferedMax: 10 });
  await next.restore([finished]);
  expect(texts(await takeAll(next, 3))).toEqual(['3', '4', '5']);
  await next.close();
});
