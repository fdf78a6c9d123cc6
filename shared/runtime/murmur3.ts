/**
 * MurmurHash3, x86 variant, 32 bit, of a string's UTF-8 bytes.
 * Source: Austin Appleby, https://github.com/aappleby/smhasher (public domain), MurmurHash3_x86_32.
 */
export function murmur3(text: string, seed = 0): number {
  return murmur3Pair(text, seed, seed).high;
}

/** The hashes of a text by two seeds, which together serve as a hash of 64 bits. */
export function murmur3Pair(text: string, highSeed: number, lowSeed: number): { high: number; low: number } {
  const length = text.length;
  const blocksEnd = length & ~3;
  let [high, low, bits] = [highSeed | 0, lowSeed | 0, 0];
  for (let i = 0; i < blocksEnd; i += 4) {
    const a = text.charCodeAt(i);
    const b = text.charCodeAt(i + 1);
    const c = text.charCodeAt(i + 2);
    const d = text.charCodeAt(i + 3);
    bits |= a | b | c | d;
    const mixed = mixBlock(a | (b << 8) | (c << 16) | (d << 24));
    high = mixHash(high, mixed);
    low = mixHash(low, mixed);
  }
  let tail = 0;
  for (let i = length - 1; i >= blocksEnd; i -= 1) {
    const unit = text.charCodeAt(i);
    bits |= unit;
    tail = (tail << 8) | unit;
  }
  if (bits > 127) {
    const bytes = Buffer.from(text, 'utf8');
    return {
      high: murmur3Bytes(bytes, 0, bytes.length, highSeed),
      low: murmur3Bytes(bytes, 0, bytes.length, lowSeed),
    };
  }
  if (blocksEnd < length) {
    const mixed = mixBlock(tail);
    high ^= mixed;
    low ^= mixed;
  }
  return { high: finish(high, length), low: finish(low, length) };
}

const c1 = 0xcc9e2d51;
const c2 = 0x1b873593;

function mixBlock(k: number): number {
  const multiplied = Math.imul(k, c1);
  return Math.imul((multiplied << 15) | (multiplied >>> 17), c2);
}

function mixHash(hash: number, mixedBlock: number): number {
  const mixed = hash ^ mixedBlock;
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}

function finish(hash: number, length: number): number {
  let h = hash ^ length;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Like `murmur3`, for the bytes from `start` to before `end`. */
export function murmur3Bytes(bytes: Uint8Array, start: number, end: number, seed = 0): number {
  const length = end - start;
  const blocksEnd = start + (length & ~3);
  let hash = seed | 0;
  for (let i = start; i < blocksEnd; i += 4) {
    const block =
      (bytes[i] as number) |
      ((bytes[i + 1] as number) << 8) |
      ((bytes[i + 2] as number) << 16) |
      ((bytes[i + 3] as number) << 24);
    hash = mixHash(hash, mixBlock(block));
  }
  let tail = 0;
  for (let i = end - 1; i >= blocksEnd; i -= 1) tail = (tail << 8) | (bytes[i] as number);
  if (blocksEnd < end) hash ^= mixBlock(tail);
  return finish(hash, length);
}
