import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { ConcurrencyLimit } from '../../shared/limits/index.ts';
import { Inflater } from './inflate.ts';
import type { Inflated } from './inflate.ts';

const settings = { bytesMax: 1024 ** 2, ratioMax: 10, inFlight: new ConcurrencyLimit({ max: 3, ofOwnerMax: 2 }) };
const body = gzipSync('text');

test('inflate: each address has its own limit of bodies decompressed at a time', async () => {
  const inflater = new Inflater(settings);
  const results: Promise<Inflated>[] = [];
  const start = (address: string): boolean => {
    let started = false;
    const result = new Promise<Inflated>((resolve) => {
      started = inflater.inflate({ compressed: body, address, done: resolve });
    });
    if (started) results.push(result);
    return started;
  };
  expect([start('a'), start('a'), start('a'), start('b'), start('b')]).toEqual([true, true, false, true, false]);
  expect((await Promise.all(results)).map(({ kind }) => kind)).toEqual(['body', 'body', 'body']);
  expect(start('a')).toBe(true);
});

test('inflate: if the beginning of a body is rejected, the rest is not decompressed, and its slot becomes free', async () => {
  const inFlight = new ConcurrencyLimit({ max: 1, ofOwnerMax: 1 });
  const inflater = new Inflater({ bytesMax: 64 * 1024 ** 2, ratioMax: Number.POSITIVE_INFINITY, inFlight });
  const compressed = gzipSync(`{"token":"unknown"}${' '.repeat(32 * 1024 ** 2)}`);
  const seen: number[] = [];
  const result = await new Promise<Inflated>((done) => {
    const isWanted = (beginning: Buffer): boolean => {
      seen.push(beginning.length);
      return false;
    };
    inflater.inflate({ compressed, address: 'a', isWanted, done });
  });
  expect(result.kind).toBe('unwanted');
  expect(seen).toEqual([64 * 1024]);
  expect(inFlight.total).toBe(0);
});

test('inflate: a complete body is returned; a body that becomes too large or ends early is refused', async () => {
  const inflater = new Inflater({ ...settings, ratioMax: Number.POSITIVE_INFINITY });
  const inflate = (compressed: Buffer): Promise<Inflated> =>
    new Promise((done) => void inflater.inflate({ compressed, address: 'a', isWanted: () => true, done }));
  const text = 'x'.repeat(300_000);
  expect(await inflate(gzipSync(text))).toEqual({ kind: 'body', body: Buffer.from(text) });
  expect(await inflate(gzipSync(Buffer.alloc(settings.bytesMax + 1)))).toEqual({ kind: 'too_large' });
  expect(await inflate(gzipSync(text).subarray(0, 100))).toEqual({ kind: 'malformed' });
  expect(await inflate(gzipSync(''))).toEqual({ kind: 'body', body: Buffer.alloc(0) });
});
