/**
 * MurmurHash3, x86 variant, 32 bit, of a string's UTF-8 bytes.
 * Source: Austin Appleby, https://github.com/aappleby/smhasher (public domain), MurmurHash3_x86_32.
 */
export function murmur3(text: string, seed = 0): number {
  return hashAscii(text, seed) ?? hashBytes(Buffer.from(text, 'utf8'), seed);
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

/** The hash of a text that is ASCII; undefined for every other. */
function hashAscii(text: string, seed: number): number | undefined {
  const length = text.length;
  const blocksEnd = length & ~3;
  let hash = seed | 0;
  let bits = 0;
  for (let i = 0; i < blocksEnd; i += 4) {
    const a = text.charCodeAt(i);
    const b = text.charCodeAt(i + 1);
    const c = text.charCodeAt(i + 2);
    const d = text.charCodeAt(i + 3);
    bits |= a | b | c | d;
    hash = mixHash(hash, a | (b << 8) | (c << 16) | (d << 24));
  }
  let tail = 0;
  for (let i = length - 1; i >= blocksEnd; i -= 1) {
    const unit = text.charCodeAt(i);
    bits |= unit;
    tail = (tail << 8) | unit;
  }
  if (bits > 127) return undefined;
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
