import fc from 'fast-check';
import { expect, test } from 'vitest';
import { murmur3, murmur3Bytes, murmur3Pair } from './murmur3.ts';

// Published vectors of MurmurHash3_x86_32.
test.each([
  ['', 0, 0],
  ['', 1, 0x514e28b7],
  ['test', 0, 0xba6bd213],
  ['Hello, world!', 0, 0xc0363e43],
  ['The quick brown fox jumps over the lazy dog', 0, 0x2e4ff723],
  ['aaaa', 0x9747b28c, 0x5a97808a],
  ['abc', 0x9747b28c, 0xc84a62dd],
  ['ππππππππ', 0x9747b28c, 0xd58063c1],
])('murmur3: %j with seed %i is the published value', (text, seed, expected) => {
  expect(murmur3(text, seed)).toBe(expected);
});

test('murmur3: a slice of a buffer has the same hash as its text', () => {
  for (const text of ['', 'a', 'abcdefg', 'Grüße aus Köln', 'row-0000000000001']) {
    const bytes = Buffer.from(`"${text}"`);
    expect(murmur3Bytes(bytes, 1, bytes.length - 1, 77)).toBe(murmur3(text, 77));
  }
});

test('murmur3: a pair consists of the hashes of the text’s bytes with each of two seeds', () => {
  const text = fc.oneof(fc.string({ maxLength: 40 }), fc.string({ unit: 'grapheme', maxLength: 20 }));
  const seed = fc.integer({ min: 0, max: 2 ** 32 - 1 });
  fc.assert(
    fc.property(text, seed, seed, (of, high, low) => {
      const bytes = Buffer.from(of);
      const hash = (by: number): number => murmur3Bytes(bytes, 0, bytes.length, by);
      expect(murmur3Pair(of, high, low)).toEqual({ high: hash(high), low: hash(low) });
    }),
  );
});
