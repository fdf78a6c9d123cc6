/** A set of lines of a frame, with one bit per line; trailing zero bytes may be missing. Undefined: no bit is set. */
export type LineBits = Uint8Array | undefined;

export function hasBit(bits: LineBits, line: number): boolean {
  return (((bits?.[line >>> 3] ?? 0) >>> (line & 7)) & 1) === 1;
}

/** Sets one more bit; may change and return the same array. */
export function setBit(bits: LineBits, line: number): Uint8Array {
  const byte = line >>> 3;
  let into = bits;
  if (into === undefined || into.length <= byte) {
    into = new Uint8Array(Math.max(byte + 1, (bits?.length ?? 0) * 2));
    if (bits !== undefined) into.set(bits);
  }
  into[byte] = (into[byte] ?? 0) | (1 << (line & 7));
  return into;
}

export function joinBits(one: Uint8Array, other: Uint8Array): Uint8Array {
  const joined = new Uint8Array(Math.max(one.length, other.length));
  for (let byte = 0; byte < joined.length; byte += 1) joined[byte] = (one[byte] ?? 0) | (other[byte] ?? 0);
  return joined;
}

/** Number of bits that are set among the first `lines`. */
export function countBits(bits: LineBits, lines: number): number {
  let count = 0;
  for (let line = 0; line < Math.min(lines, (bits?.length ?? 0) * 8); line += 1) if (hasBit(bits, line)) count += 1;
  return count;
}
