import { expect, test } from 'vitest';
import { murmur3, murmur3Bytes } from './murmur3.ts';

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

test('murmur3: bytes in the middle of others have the hash of their text', () => {
  for (const text of ['', 'a', 'abcdefg', 'Grüße aus Köln', 'row-0000000000001']) {
    const bytes = Buffer.from(`"${text}"`);
    expect(murmur3Bytes(bytes, 1, bytes.length - 1, 77)).toBe(murmur3(text, 77));
  }
});
