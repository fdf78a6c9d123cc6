const openBrace = 0x7b;
const closeBrace = 0x7d;
const comma = 0x2c;
const zero = 0x30;
/** A buffer is reused up to this many times its initial size, or this many times the size of the next text. */
const keptTimes = 16;
const noText = new Uint8Array();

/** A key as it is written before its value: quoted, and with a colon. */
export const keyOf = (name: string): Buffer => Buffer.from(`${JSON.stringify(name)}:`);

/**
 * Builds JSON from pieces of another text. The writer has a copy of that text at the start of its own buffer, because
 * copying a piece within one buffer costs a third of copying it from another. Written JSON is valid until the next
 * `begin`. Only `begin` and `reserve` grow the buffer: reserve room before writing.
 */
export class JsonWriter {
  readonly #initialBytes: number;
  #bytes: Buffer;
  #length = 0;

  constructor(initialBytes: number) {
    this.#initialBytes = initialBytes;
    this.#bytes = Buffer.allocUnsafe(initialBytes);
  }

  /** The buffer: the text, then the bytes written so far, up to `length`. `reserve` may replace it. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  get length(): number {
    return this.#length;
  }

  /**
   * Discards all written bytes and copies `text` to the start of the buffer. Returns the copy; `take` accepts its
   * offsets.
   */
  begin(text: Uint8Array = noText): Buffer {
    const isKept = this.#bytes.length <= Math.max(this.#initialBytes, text.length) * keptTimes;
    if (!isKept) this.#bytes = Buffer.allocUnsafe(this.#initialBytes);
    this.#length = 0;
    this.reserve(text.length);
    this.put(text);
    return this.#bytes.subarray(0, text.length);
  }

  /** Discards the bytes after `length`. */
  backTo(length: number): void {
    this.#length = length;
  }

  /** Makes room for this many bytes after `length`. */
  reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }

  /** Writes bytes from another buffer. */
  put(text: Uint8Array): void {
    this.#bytes.set(text, this.#length);
    this.#length += text.length;
  }

  /** Writes a short text that never changes, such as a key, byte by byte. */
  add(text: Uint8Array): void {
    const bytes = this.#bytes;
    let to = this.#length;
    for (let i = 0; i < text.length; i += 1, to += 1) bytes[to] = text[i] as number;
    this.#length = to;
  }

  /** Writes a copy of [start, end) of its own buffer, from the text or from the written bytes. */
  take(start: number, end: number): void {
    this.#bytes.copyWithin(this.#length, start, end);
    this.#length += end - start;
  }

  /**
   * Writes a member of an object, followed by a comma: its key, as `keyOf` returns it, and the value at [start, end).
   */
  member(key: Uint8Array, start: number, end: number): void {
    this.add(key);
    this.take(start, end);
    this.byte(comma);
  }

  byte(byte: number): void {
    this.#bytes[this.#length] = byte;
    this.#length += 1;
  }

  /** Writes a whole number from 0 to 2^53. */
  whole(value: number): void {
    // 32-bit integers are divided several times as fast.
    if (value < sixDigits) return this.#digits(value | 0, digitsOf(value));
    const above = Math.floor(value / sixDigits);
    this.whole(above);
    this.#digits((value - above * sixDigits) | 0, 6);
  }

  #digits(value: number, count: number): void {
    const bytes = this.#bytes;
    const start = this.#length;
    let left = value;
    for (let to = start + count - 1; to >= start; to -= 1) {
      const above = (left / 10) | 0;
      bytes[to] = zero + left - above * 10;
      left = above;
    }
    this.#length = start + count;
  }

  openObject(): void {
    this.byte(openBrace);
  }

  /** Ends an object; its brace replaces the comma after the last member. */
  closeObject(): void {
    if (this.#bytes[this.#length - 1] === comma) this.#bytes[this.#length - 1] = closeBrace;
    else this.byte(closeBrace);
  }
}

const sixDigits = 1_000_000;

function digitsOf(value: number): number {
  let digits = 1;
  for (let above = 10; above <= value; above *= 10) digits += 1;
  return digits;
}
