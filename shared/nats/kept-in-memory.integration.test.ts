import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NatsServer } from '../embedded/nats/nats-server.ts';
import { createNatsFolder, startTestNats } from '../testing/servers.ts';
import { consumerOfNumbers, putNumbers, takeAll, textsOf } from '../testing/numbered-messages.ts';
import { testTopology } from '../testing/test-topology.ts';
import { client } from './connection/client.ts';
import { connectLog } from './connection/connection.ts';
import type { LogConnection } from './connection/connection.ts';
import type { ConsumerTrouble } from './consume/consumer-trouble.ts';
import type { DurableConsumer } from './consume/consumers.ts';
import { openPullConsumer } from './consume/pull-consumer.ts';
import type { FinishedMessages } from './consume/taken-messages.ts';
import type { PullConsumer } from './consume/pull-consumer.ts';
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

const put = (account: string, from: number, to: number): Promise<void> => putNumbers(connection, account, from, to);

/** Kills and restarts the server: what was only in memory is lost. */
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

/** Opens the next reader, which knows what the previous one finished. */
const openAt = (consumer: DurableConsumer, finished: FinishedMessages): Promise<PullConsumer> =>
  openPullConsumer(connection, { consumer, bufferedMax: 10, finishedBefore: () => Promise.resolve(finished) });

/**
 * Opens a reader that takes `takes` messages, acknowledges the first `acks` of them and closes. Returns what it
 * finished.
 */
async function leaveFinished(consumer: DurableConsumer, takes: number, acks: number): Promise<FinishedMessages> {
  const reader = await openPullConsumer(connection, { consumer, bufferedMax: 10 });
  for (const message of (await takeAll(reader, takes)).slice(0, acks)) await message.ackConfirmed(2_000);
  const { finished } = reader;
  await reader.close();
  return finished;
}

test('kept in memory: a consumer is in memory only if its reader restores its position or recognises repeated messages', async () => {
  const inMemory = async (consumer: DurableConsumer) => {
    await (await openPullConsumer(connection, { consumer, bufferedMax: 1 })).close();
    return (await connection[client].jsm.consumers.info(consumer.stream, consumer.name)).config.mem_storage ?? false;
  };
  expect(await inMemory(consumerOfNumbers('by-reader', 'by-reader'))).toBe(true);
  expect(await inMemory(consumerOfNumbers('by-ids', 'by-ids'))).toBe(true);
  expect(await inMemory(consumerOfNumbers('nobody', 'nobody'))).toBe(false);
});

test('kept in memory: after a server restart a reader gets released messages before newer ones, and no finished messages', async () => {
  await put('alive', 0, 8);
  const troubles: ConsumerTrouble[] = [];
  const reader = await openPullConsumer(connection, {
    consumer: consumerOfNumbers('alive', 'by-reader'),
    bufferedMax: 10,
    onTrouble: (trouble) => troubles.push(trouble),
  });
  const had = await takeAll(reader, 6);
  for (const at of [0, 1, 3, 5]) await had[at]?.ackConfirmed(2_000);
  had[2]?.release();
  await restartServer();
  await put('alive', 8, 9);
  // Message 4 is in flight.
  expect(textsOf(await takeAll(reader, 4))).toEqual(['2', '6', '7', '8']);
  expect(troubles).toContainEqual({ kind: 'recreated' });
  await reader.close();
});

test('kept in memory: after a restart, a reader that had received no message gets no message finished before the restart', async () => {
  await put('idle', 0, 5);
  const consumer = consumerOfNumbers('idle', 'by-reader');
  await leaveFinished(consumer, 5, 5);
  const reader = await openPullConsumer(connection, { consumer, bufferedMax: 10 });
  await restartServer();
  await put('idle', 5, 7);
  expect(textsOf(await takeAll(reader, 2))).toEqual(['5', '6']);
  await reader.close();
});

test('kept in memory: the next reader begins after the finished messages, even if a new consumer would begin later', async () => {
  await put('handed-on', 0, 6);
  const consumer = consumerOfNumbers('handed-on', 'by-reader');
  const earlier = await openPullConsumer(connection, { consumer, bufferedMax: 10 });
  const had = await takeAll(earlier, 4);
  for (const message of had.slice(0, 2)) await message.ackConfirmed(2_000);
  had[3]?.finish();
  const { finished } = earlier;
  await earlier.close();
  await restartServer();
  const next = await openAt({ ...consumer, startFrom: 'next' }, finished);
  await put('handed-on', 6, 7);
  expect(textsOf(await takeAll(next, 4))).toEqual(['2', '4', '5', '6']);
  await next.close();
});

test('kept in memory: a missing consumer is created at the position where its reader stopped', async () => {
  await put('known', 0, 4);
  const consumer = consumerOfNumbers('known', 'by-reader');
  const finished = await leaveFinished(consumer, 2, 2);
  await restartServer();
  const next = await openAt({ ...consumer, startFrom: 'next' }, finished);
  // Retention reads this floor.
  const { ack_floor: acked } = await connection[client].jsm.consumers.info(consumer.stream, consumer.name);
  expect(acked.stream_seq).toBe(finished.upTo);
  expect(textsOf(await takeAll(next, 2))).toEqual(['2', '3']);
  await next.close();
});

test('kept in memory: if the earlier reader had received no message, the next reader gets every message', async () => {
  const consumer = consumerOfNumbers('unbegun', 'by-reader');
  const finished = await leaveFinished(consumer, 0, 0);
  await put('unbegun', 0, 3);
  await restartServer();
  const next = await openAt({ ...consumer, startFrom: 'next' }, finished);
  expect(textsOf(await takeAll(next, 3))).toEqual(['0', '1', '2']);
  await next.close();
});

test('kept in memory: if the last finished message has left the log, the next reader begins with the oldest message there', async () => {
  await put('purged', 0, 6);
  const consumer = consumerOfNumbers('purged', 'by-reader');
  const finished = await leaveFinished(consumer, 3, 3);
  await connection[client].jsm.streams.purge(streams.events, {
    filter: consumer.filterSubject,
    seq: finished.upTo + 1,
  });
  await restartServer();
  const next = await openAt({ ...consumer, startFrom: 'next' }, finished);
  expect(textsOf(await takeAll(next, 3))).toEqual(['3', '4', '5']);
  await next.close();
});

test('kept in memory: a position at a message of another subject is kept after that message has left the log', async () => {
  await put('shared', 0, 3);
  const consumer = consumerOfNumbers('shared', 'by-reader');
  await leaveFinished(consumer, 3, 3);
  await put('neighbour', 0, 1);
  const neighbour = consumerOfNumbers('neighbour', 'by-reader').filterSubject;
  const last = await connection[client].jsm.streams.getMessage(streams.events, { last_by_subj: neighbour });
  const finished = { upTo: last.seq, above: [], storedUntilMs: last.time.getTime() };
  await connection[client].jsm.streams.purge(streams.events, { filter: neighbour });
  await put('shared', 3, 4);
  const next = await openAt(consumer, finished);
  expect(textsOf(await takeAll(next, 1))).toEqual(['3']);
  await next.close();
});

test('kept in memory: a position at a younger message of another subject is kept; a younger message of its own is not skipped', async () => {
  await put('elder', 0, 2);
  const consumer = consumerOfNumbers('elder', 'by-reader');
  const { storedUntilMs: _, ...finished } = await leaveFinished(consumer, 2, 2);
  const own = await connection[client].jsm.streams.getMessage(streams.events, { seq: finished.upTo });
  const storedUntilMs = own.time.getTime();
  await expect.poll(() => Date.now()).toBeGreaterThan(storedUntilMs + 1);
  await put('passer-by', 0, 2);
  const upTo = finished.upTo + 2;
  const kept = await openAt(consumer, { upTo, above: [], storedUntilMs });
  await put('elder', 2, 3);
  expect(textsOf(await takeAll(kept, 1))).toEqual(['2']);
  await kept.close();
  const reused = await openAt(consumer, { upTo: upTo + 1, above: [], storedUntilMs });
  expect(textsOf(await takeAll(reused, 1))).toEqual(['2']);
  await reused.close();
});

test('kept in memory: a consumer that an earlier release kept on disk is moved to memory at its position', async () => {
  await put('moved', 0, 6);
  const onDisk = consumerOfNumbers('moved', 'nobody');
  const before = await openPullConsumer(connection, { consumer: onDisk, bufferedMax: 10 });
  for (const message of (await takeAll(before, 4)).slice(0, 2)) expect(await message.ackConfirmed(2_000)).toBe(true);
  const consumer = consumerOfNumbers('moved', 'by-ids');
  const reader = await openPullConsumer(connection, { consumer, bufferedMax: 10 });
  await expect(before.take(10)).rejects.toThrow('taken over');
  expect(textsOf(await takeAll(reader, 4))).toEqual(['2', '3', '4', '5']);
  const { config } = await connection[client].jsm.consumers.info(consumer.stream, consumer.name);
  expect(config.mem_storage).toBe(true);
  const handedOut = await connection[client].jsm.streams.getMessage(consumer.stream, { seq: reader.handedOutSeq });
  expect(Buffer.from(handedOut.data).toString()).toBe('5');
  await reader.close();
});
