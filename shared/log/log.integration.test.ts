import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { NatsServer } from '../embedded/nats-server.ts';
import { createNatsFolder, startTestNats } from '../testing/servers.ts';
import { connectLog } from './connection.ts';
import type { LogConnection } from './connection.ts';
import type { DurableConsumer } from './consumers.ts';
import { openCursor } from './cursor.ts';
import type { Cursor, CursorTrouble } from './cursor.ts';
import type { Delivery } from './delivery.ts';
import { publish } from './publisher.ts';
import { eventsSubject, ingestSubject } from './subjects.ts';
import { ensureTopology, streams } from './topology.ts';

const settings = {
  partitions: 3,
  replicas: 1,
  ingestBytesMax: 64 * 1024 * 1024,
  eventsBytesMax: 64 * 1024 * 1024,
  retryBytesMax: 16 * 1024 * 1024,
  deadLetterBytesMax: 16 * 1024 * 1024,
  deduplicationBytesMax: 16 * 1024 * 1024,
};

let server: NatsServer;
let connection: LogConnection;
let nth = 0;
let account: string;
let consumer: DurableConsumer;

beforeAll(async () => {
  server = await startTestNats();
  connection = await connectLog({ url: server.url, name: 'test' });
  await ensureTopology(connection, settings);
});

beforeEach(() => {
  nth += 1;
  account = `account-${nth}`;
  consumer = {
    stream: streams.events,
    name: `reader-${nth}`,
    filterSubject: eventsSubject(account, 0),
    startFrom: 'first',
    ackWaitMs: 30_000,
    ackPendingMax: 100,
  };
});

afterAll(async () => {
  await connection.close();
  await server.stop();
});

const put = (text: string, msgId = `${account}-${text}`): ReturnType<typeof publish> =>
  publish(connection, eventsSubject(account, 0), Buffer.from(text), { msgId, timeoutMs: 5_000 });
const texts = (deliveries: readonly Delivery[]): string[] => deliveries.map(({ data }) => Buffer.from(data).toString());

async function takeAll(cursor: Cursor, count: number): Promise<Delivery[]> {
  const taken: Delivery[] = [];
  while (taken.length < count) taken.push(...(await cursor.take(count - taken.length)));
  return taken;
}

test('topology: the number of partitions is fixed when the stream is made', async () => {
  const again = await ensureTopology(connection, { ...settings, partitions: 9 });
  expect(again).toEqual({ partitions: 3, created: [] });
});

test('topology: limits follow the settings', async () => {
  const retryBytesMax = 32 * 1024 * 1024;
  await ensureTopology(connection, { ...settings, retryBytesMax });
  expect((await connection.jsm.streams.info(streams.retry)).config.max_bytes).toBe(retryBytesMax);
});

test('publish: the same message id lands once', async () => {
  const first = await put('a', 'same-id');
  expect(first.duplicate).toBe(false);
  expect(await put('a', 'same-id')).toEqual({ seq: first.seq, duplicate: true });
});

test('publish: a full stream and a message over the limit say so', async () => {
  const small = await startTestNats();
  const own = await connectLog({ url: small.url, name: 'test' });
  try {
    await ensureTopology(own, { ...settings, ingestBytesMax: 1024 * 1024 });
    const send = (n: number, bytes: number): ReturnType<typeof publish> =>
      publish(own, ingestSubject(0), Buffer.alloc(bytes), { msgId: `fill-${n}`, timeoutMs: 5_000 });
    await expect(
      (async () => {
        for (let n = 0; n < 20; n += 1) await send(n, 100_000);
      })(),
    ).rejects.toMatchObject({ code: 'publish_failed', reason: 'full' });
    await expect(send(99, own.nc.info?.max_payload ?? 0)).rejects.toMatchObject({ reason: 'too_large' });
  } finally {
    await own.close();
    await small.stop();
  }
});

test('cursor: delivers in order and goes on behind what was acknowledged', async () => {
  for (const text of ['1', '2', '3', '4']) await put(text);
  const first = await openCursor(connection, { consumer, bufferedMax: 10 });
  const taken = await takeAll(first, 2);
  expect(texts(taken)).toEqual(['1', '2']);
  expect(taken[1]).toMatchObject({ deliveries: 1, pending: 2, subject: eventsSubject(account, 0) });
  for (const delivery of taken) expect(await delivery.ackConfirmed(2_000)).toBe(true);
  await first.close();
  const second = await openCursor(connection, { consumer, bufferedMax: 10 });
  expect(texts(await takeAll(second, 2))).toEqual(['3', '4']);
  await second.close();
});

test('cursor: pulls no more than its reader has room for', async () => {
  for (let n = 0; n < 10; n += 1) await put(String(n));
  const cursor = await openCursor(connection, { consumer, bufferedMax: 3 });
  await expect.poll(() => cursor.buffered).toBe(3);
  const info = await connection.jsm.consumers.info(streams.events, consumer.name);
  expect(info.num_ack_pending).toBe(3);
  await cursor.close();
});

test.each([
  { acked: 0, stored: 3, bufferedMax: 3 },
  { acked: 2, stored: 10, bufferedMax: 20 },
  { acked: 1, stored: 10, bufferedMax: 10 },
  { acked: 3, stored: 10, bufferedMax: 4 },
])(
  'cursor: what was not taken goes to the next reader at once, in order ($acked of $stored acked, $bufferedMax ahead)',
  async ({ acked, stored, bufferedMax }) => {
    const all = Array.from({ length: stored }, (_, n) => String(n));
    for (const text of all) await put(text);
    const first = await openCursor(connection, { consumer, bufferedMax });
    await expect.poll(() => first.buffered).toBe(Math.min(stored, bufferedMax));
    for (const delivery of acked === 0 ? [] : await takeAll(first, acked)) await delivery.ackConfirmed(2_000);
    await first.close();
    const second = await openCursor(connection, { consumer, bufferedMax });
    expect(texts(await takeAll(second, stored - acked))).toEqual(all.slice(acked));
    await second.close();
  },
);

test('cursor: a paused one asks for nothing, a resumed one goes on', async () => {
  const cursor = await openCursor(connection, { consumer, bufferedMax: 1 });
  cursor.pause();
  await put('1');
  await put('2');
  const [one] = await cursor.take(1);
  expect(texts(one === undefined ? [] : [one])).toEqual(['1']);
  await expect
    .poll(async () => (await connection.jsm.consumers.info(streams.events, consumer.name)).num_pending)
    .toBe(1);
  expect(cursor.buffered).toBe(0);
  cursor.resume();
  expect(texts(await cursor.take(1))).toEqual(['2']);
  await cursor.close();
});

test('cursor: a waiting reader is let go when it closes', async () => {
  const cursor = await openCursor(connection, { consumer, bufferedMax: 1 });
  const waiting = cursor.take(1);
  await cursor.close();
  expect(await waiting).toEqual([]);
});

test('cursor: a consumer deleted under it is made anew and nothing is lost', async () => {
  await put('1');
  const troubles: CursorTrouble[] = [];
  const onTrouble = (trouble: CursorTrouble): void => void troubles.push(trouble);
  const cursor = await openCursor(connection, { consumer, bufferedMax: 5, onTrouble });
  await takeAll(cursor, 1);
  await connection.jsm.consumers.delete(streams.events, consumer.name);
  await put('2');
  await expect.poll(async () => texts(await cursor.take(5)), { timeout: 45_000 }).toContain('2');
  expect(troubles[0]).toMatchObject({ kind: 'unanswered', lastsMs: 0 });
  expect(troubles).toContainEqual({ kind: 'made-anew' });
  await cursor.close();
});

test('log: connection and cursor outlive a killed server', async () => {
  const storeDir = await createNatsFolder();
  const own = await startTestNats({ storeDir });
  const client = await connectLog({ url: own.url, name: 'test' });
  await ensureTopology(client, settings);
  const send = (text: string): ReturnType<typeof publish> =>
    publish(client, eventsSubject(account, 0), Buffer.from(text), { msgId: text, timeoutMs: 1_000, attemptsMax: 20 });
  const cursor = await openCursor(client, { consumer, bufferedMax: 5 });
  await send('before');
  const [before] = await takeAll(cursor, 1);
  expect(await before?.ackConfirmed(2_000)).toBe(true);
  await own.kill();
  await expect.poll(() => client.connected, { timeout: 45_000 }).toBe(false);
  await expect(
    publish(client, eventsSubject(account, 0), Buffer.from('x'), { msgId: 'x', timeoutMs: 500 }),
  ).rejects.toMatchObject({ reason: 'disconnected' });
  const restarted = await startTestNats({ storeDir, port: own.port });
  await send('after');
  // The server keeps acknowledgements lazily, so what was acknowledged just before the kill may come again.
  const seen: string[] = [];
  while (!seen.includes('after')) seen.push(...texts(await cursor.take(5)));
  expect(seen.filter((text) => text !== 'before')).toEqual(['after']);
  expect(client.reconnects).toBe(1);
  await cursor.close();
  await client.close();
  await restarted.stop();
});
