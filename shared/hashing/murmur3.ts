/**
 * MurmurHash3, x86 variant, 32 bit, of a string's UTF-8 bytes.
 * Source: Austin Appleby, https://github.com/aappleby/smhasher (public domain), MurmurHash3_x86_32.
 */
export function murmur3(text: string, seed = 0): number {
  for (let i = 0; i < text.length; i += 1) {
    if (text.charCodeAt(i) > 127) return hashBytes(Buffer.from(text, 'utf8'), seed);
  }
  return hashAscii(text, seed);
}

const c1 = 0xcc9e2d51;
const c2 = 0x1b873593;

function mixBlock(k: number): number {
  const multiplied = Math.imul(k, c1);
  return Math.imul((multiplied << 15) | (multiplied >>> 17), c2);
}

function mixHash(hash: number, k: number): number {
  const mixed = hash ^ mixBlock(k);
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}

function finish(hash: number, length: number): number {
  let h = hash ^ length;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

function hashAscii(text: string, seed: number): number {
  const length = text.length;
  const blocksEnd = length & ~3;
  let hash = seed | 0;
  for (let i = 0; i < blocksEnd; i += 4) {
    const block =
      text.charCodeAt(i) |
      (text.charCodeAt(i + 1) << 8) |
      (text.charCodeAt(i + 2) << 16) |
      (text.charCodeAt(i + 3) << 24);
    hash = mixHash(hash, block);
  }
  let tail = 0;
  for (let i = length - 1; i >= blocksEnd; i -= 1) tail = (tail << 8) | text.charCodeAt(i);
  if (blocksEnd < length) hash ^= mixBlock(tail);
  return finish(hash, length);
}

function hashBytes(bytes: Uint8Array, seed: number): number {
  const length = bytes.length;
  const blocksEnd = length & ~3;
  const at = (i: number): number => bytes[i] ?? 0;
  let hash = seed | 0;
  for (let i = 0; i < blocksEnd; i += 4) {
    hash = mixHash(hash, at(i) | (at(i + 1) << 8) | (at(i + 2) << 16) | (at(i + 3) << 24));
  }
  let tail = 0;
  for (let i = length - 1; i >= blocksEnd; i -= 1) tail = (tail << 8) | at(i);
  if (blocksEnd < length) hash ^= mixBlock(tail);
  return finish(hash, length);
}
