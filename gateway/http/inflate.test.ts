import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { AddressShares } from './address-shares.ts';
import { Inflater } from './inflate.ts';
import type { Inflated } from './inflate.ts';

const settings = { bytesMax: 1024 ** 2, ratioMax: 10, inFlight: new AddressShares(3, 2) };
const body = gzipSync('text');

test('inflate: an address decompresses no more at a time than its part, and others their own', async () => {
  const inflater = new Inflater(settings);
  const results: Promise<Inflated>[] = [];
  const start = (address: string): boolean => {
    let started = false;
    const result = new Promise<Inflated>((resolve) => {
      started = inflater.inflate(body, address, resolve);
    });
    if (started) results.push(result);
    return started;
  };
  expect([start('a'), start('a'), start('a'), start('b'), start('b')]).toEqual([true, true, false, true, false]);
  expect((await Promise.all(results)).map(({ kind }) => kind)).toEqual(['body', 'body', 'body']);
  expect(start('a')).toBe(true);
});
