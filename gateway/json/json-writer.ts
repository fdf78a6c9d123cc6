const openBrace = 0x7b;
const closeBrace = 0x7d;
const comma = 0x2c;
const zero = 0x30;
/** Below this a call to copy bytes costs more than copying them one by one. */
const shortBytes = 48;
/** How much larger than at first a buffer may be that is used again. */
const keptTimes = 16;

/** A key as it stands before its value. */
export const keyOf = (name: string): Buffer => Buffer.from(`${JSON.stringify(name)}:`);

/** Puts JSON together from pieces of other bytes. What it wrote stays until it is reset; room is made in advance, for a whole text. */
export class JsonWriter {
  readonly #initialBytes: number;
  #bytes: Buffer;
  #length = 0;

  constructor(initialBytes: number) {
    this.#initialBytes = initialBytes;
    this.#bytes = Buffer.allocUnsafe(initialBytes);
  }

  /** What was written so far is at [0, length); the buffer is another one after `reserve`. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  get length(): number {
    return this.#length;
  }

  /** Forgets all that was written behind `length`. */
  reset(length = 0): void {
    this.#length = length;
    const isKept = length > 0 || this.#bytes.length <= this.#initialBytes * keptTimes;
    if (!isKept) this.#bytes = Buffer.allocUnsafe(this.#initialBytes);
  }

  /** To be called with the most that is written until the next call. */
  reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }

  /** Writes bytes of a text that stays the same. */
  add(text: Uint8Array): void {
    const bytes = this.#bytes;
    let to = this.#length;
    for (let i = 0; i < text.length; i += 1, to += 1) bytes[to] = text[i] as number;
    this.#length = to;
  }

  /** Writes from[start, end). */
  copy(from: Buffer, start: number, end: number): void {
    this.#length = copyBytes(from, start, end, this.#bytes, this.#length);
  }

  /** Writes a member of an object, with a comma behind it: its key, as `keyOf` has it, and its value from[start, end). */
  member(key: Uint8Array, from: Buffer, start: number, end: number): void {
    const bytes = this.#bytes;
    let to = this.#length;
    for (let i = 0; i < key.length; i += 1, to += 1) bytes[to] = key[i] as number;
    to = copyBytes(from, start, end, bytes, to);
    bytes[to] = comma;
    this.#length = to + 1;
  }

  byte(byte: number): void {
    this.#bytes[this.#length] = byte;
    this.#length += 1;
  }

  /** Writes a whole number from 0 on. */
  whole(value: number): void {
    let digits = 1;
    for (let left = value; left >= 10; left = Math.floor(left / 10)) digits += 1;
    let left = value;
    for (let to = this.#length + digits - 1; to >= this.#length; to -= 1) {
      const above = Math.floor(left / 10);
      this.#bytes[to] = zero + left - above * 10;
      left = above;
    }
    this.#length += digits;
  }

  openObject(): void {
    this.byte(openBrace);
  }

  /** Ends the object whose members each wrote a comma behind themselves. */
  closeObject(): void {
    if (this.#bytes[this.#length - 1] === comma) this.#bytes[this.#length - 1] = closeBrace;
    else this.byte(closeBrace);
  }
}

/** Copies from[start, end) to `to` and returns what is behind it. */
function copyBytes(from: Buffer, start: number, end: number, bytes: Buffer, to: number): number {
  const behind = to + end - start;
  if (end - start > shortBytes) {
    from.copy(bytes, to, start, end);
    return behind;
  }
  for (let i = start, at = to; at < behind; i += 1, at += 1) bytes[at] = from[i] as number;
  return behind;
}
