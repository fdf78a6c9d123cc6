import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { NatsServer } from '../../embedded/nats/nats-server.ts';
import { startTestNats } from '../../testing/servers.ts';
import { openBucket, readBucket } from './bucket.ts';
import type { Bucket } from './bucket.ts';
import { client } from '../connection/client.ts';
import { connectLog } from '../connection/connection.ts';
import type { LogConnection } from '../connection/connection.ts';

let server: NatsServer;
let connection: LogConnection;
let bucket: Bucket;
let nth = 0;

beforeAll(async () => {
  server = await startTestNats();
  connection = await connectLog({ url: server.url, name: 'test' });
});

beforeEach(async () => {
  nth += 1;
  bucket = await openBucket(connection, { name: `TEST_${nth}`, replicas: 1, bytesMax: 16 * 1024 * 1024 });
});

afterAll(async () => {
  await connection.close();
  await server.stop();
});

const bytes = (text: string): Uint8Array => Buffer.from(text);
const text = (value: Uint8Array | undefined): string | undefined =>
  value === undefined ? undefined : Buffer.from(value).toString();

type Watched = { readonly seen: string[]; readonly ready: () => readonly string[] | undefined; stop(): void };

/** Watches the bucket, and records which entries had arrived when `onReady` was called. */
async function watch(filter?: string): Promise<Watched> {
  const seen: string[] = [];
  let atReady: readonly string[] | undefined;
  const handle = await bucket.watch({
    ...(filter === undefined ? {} : { filter }),
    onEntry: (entry) => seen.push(`${entry.key}=${text(entry.value) ?? 'deleted'}@${entry.revision}`),
    onReady: () => {
      atReady = [...seen];
    },
  });
  return { seen, ready: () => atReady, stop: handle.stop };
}

test.each([0, 1, 2, 300])('bucket: with %i entries a watch is ready once it has given all of them', async (count) => {
  for (let n = 0; n < count; n += 1) await bucket.put(`account.${n}`, bytes(String(n)));
  const watched = await watch('account.*');
  await expect.poll(watched.ready).toHaveLength(count);
  await bucket.put('account.later', bytes('x'));
  await expect.poll(() => watched.seen).toHaveLength(count + 1);
  watched.stop();
});

test('bucket: a watch sees each change and deletion with a growing revision', async () => {
  await bucket.put('a.1', bytes('one'));
  const watched = await watch('a.*');
  await expect.poll(watched.ready).toBeDefined();
  await bucket.put('a.1', bytes('two'));
  await bucket.put('b.1', bytes('not watched'));
  await bucket.delete('a.1');
  await expect.poll(() => watched.seen).toEqual(['a.1=one@1', 'a.1=two@2', 'a.1=deleted@4']);
  watched.stop();
});

test('bucket: if two writers saw the same revision, only one can write', async () => {
  const revision = await bucket.put('k', bytes('0'));
  const results = await Promise.all(['a', 'b'].map((value) => bucket.putIfUnchanged('k', bytes(value), revision)));
  expect(results.filter((result) => result !== undefined)).toHaveLength(1);
  expect(await bucket.putIfUnchanged('k', bytes('c'), 0)).toBeUndefined();
  expect(await bucket.putIfUnchanged('new', bytes('c'), 0)).toBeGreaterThan(revision);
});

test('bucket: reads, lists and deletes keys', async () => {
  await bucket.put('x.1', bytes('1'));
  await bucket.put('x.2', bytes('2'));
  await bucket.delete('x.2');
  expect(text((await bucket.get('x.1'))?.value)).toBe('1');
  expect(await bucket.get('nothing')).toBeUndefined();
  expect(await bucket.keys('x.*')).toEqual(['x.1']);
});

test('bucket: readBucket returns every entry unchanged, and undefined for a missing bucket', async () => {
  const keys = Array.from({ length: 30 }, (_, index) => `key.${index}`);
  for (const key of keys) await bucket.put(key, Buffer.from(`value of ${key}`));
  await bucket.delete('key.7');
  const found = await readBucket(connection, `TEST_${nth}`);
  expect([...(found?.keys() ?? [])].toSorted()).toEqual(keys.filter((key) => key !== 'key.7').toSorted());
  expect(Buffer.from(found?.get('key.3') ?? []).toString()).toBe('value of key.3');
  expect(await readBucket(connection, 'NONE')).toBeUndefined();
});

test('bucket: entries disappear after their time to live', async () => {
  const short = await openBucket(connection, { name: 'SHORT', replicas: 1, bytesMax: 1024 * 1024, ttlMs: 300 });
  await short.put('gone', bytes('soon'));
  await expect.poll(() => short.get('gone'), { timeout: 45_000 }).toBeUndefined();
});

test('bucket: reopened with a larger limit, the bucket has that limit and keeps its entries', async () => {
  await bucket.put('a', bytes('kept'));
  const larger = { name: `TEST_${nth}`, replicas: 1, bytesMax: 32 * 1024 * 1024 };
  const again = await openBucket(connection, larger);
  expect((await connection[client].jsm.streams.info(`KV_TEST_${nth}`)).config.max_bytes).toBe(larger.bytesMax);
  expect(text((await again.get('a'))?.value)).toBe('kept');
});

test('bucket: is read from its leader, never from a replica that may be behind', async () => {
  const { config } = await connection[client].jsm.streams.info(`KV_TEST_${nth}`);
  expect(config.allow_direct).not.toBe(true);
  await bucket.put('a', bytes('one'));
  expect(text((await bucket.get('a'))?.value)).toBe('one');
  expect(await bucket.get('b')).toBeUndefined();
});

test('bucket: a bucket that may discard its oldest entries accepts every write, even if it was created without that setting', async () => {
  const settings = { name: `TEST_${nth}`, replicas: 1, bytesMax: 64 * 1024 };
  const strict = await openBucket(connection, settings);
  const fill = async (into: Bucket, prefix: string): Promise<void> => {
    for (let i = 0; i < 20; i += 1) await into.put(`${prefix}.${i}`, Buffer.alloc(8_192));
  };
  await expect(fill(strict, 'strict')).rejects.toMatchObject({
    reason: 'full',
    cause: { message: expect.stringMatching(/maximum bytes/) as string },
  });
  await expect(strict.putIfUnchanged('new', Buffer.alloc(8_192), 0)).rejects.toMatchObject({ reason: 'full' });
  const lenient = await openBucket(connection, { ...settings, givesUpOldest: true });
  await fill(lenient, 'lenient');
  expect(await lenient.get('lenient.19')).toBeDefined();
  expect(await lenient.get('strict.0')).toBeUndefined();
});
