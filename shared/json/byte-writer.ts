/** The bytes at [start, end) of a buffer. */
export type Stretch = { readonly bytes: Buffer; readonly start: number; readonly end: number };

/** Shorter texts, in UTF-16 units, are written faster unit by unit. */
const nativeFrom = 24;
const firstNonAscii = 0x80;
/** For at most this many bytes, copying them one by one is faster than `set`. */
const copiedMax = 32;
const [space, quote, backslash] = [0x20, 0x22, 0x5c];

/** A growing buffer that composes JSON from texts and from ranges of other buffers, without creating a string. */
export class ByteWriter {
  #bytes: Buffer;
  #length = 0;

  constructor(initialBytes: number) {
    this.#bytes = Buffer.allocUnsafe(initialBytes);
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  get capacity(): number {
    return this.#bytes.length;
  }

  /** The bytes between two lengths; valid until the next write. */
  stretchOf({ start, end }: { readonly start: number; readonly end: number }): Stretch {
    return { bytes: this.#bytes, start, end };
  }

  reset(): void {
    this.#length = 0;
  }

  text(text: string): void {
    // A UTF-16 unit takes at most three bytes.
    this.#reserve(text.length * 3);
    if (text.length < nativeFrom && this.#writeAscii(text)) return;
    this.#length += this.#bytes.write(text, this.#length);
  }

  /** Writes a text as a JSON string. */
  quoted(text: string): void {
    this.#reserve(text.length + 2);
    if (!this.#writeQuoted(text)) this.text(JSON.stringify(text));
  }

  stretch({ bytes, start, end }: Stretch): void {
    this.#reserve(end - start);
    this.#length += bytes.copy(this.#bytes, this.#length, start, end);
  }

  /** Writes bytes[start, end). */
  bytes(bytes: Uint8Array, start = 0, end = bytes.length): void {
    const length = end - start;
    this.#reserve(length);
    if (length <= copiedMax) {
      const into = this.#bytes;
      for (let at = 0; at < length; at += 1) into[this.#length + at] = bytes[start + at] as number;
    } else {
      this.#bytes.set(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end), this.#length);
    }
    this.#length += length;
  }

  /** A copy of the written bytes. */
  copy(): Uint8Array {
    return Uint8Array.prototype.slice.call(this.#bytes, 0, this.#length);
  }

  /** Writes an ASCII text. Returns false, and writes nothing, for any other text. */
  #writeAscii(text: string): boolean {
    const bytes = this.#bytes;
    const start = this.#length;
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      if (unit >= firstNonAscii) return false;
      bytes[start + at] = unit;
    }
    this.#length = start + text.length;
    return true;
  }

  /** Writes a text that needs no escape in JSON. Returns false, and writes nothing, for any other text. */
  #writeQuoted(text: string): boolean {
    const bytes = this.#bytes;
    const start = this.#length + 1;
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      if (unit >= firstNonAscii || unit < space || unit === quote || unit === backslash) return false;
      bytes[start + at] = unit;
    }
    const end = start + text.length;
    bytes[start - 1] = quote;
    bytes[end] = quote;
    this.#length = end + 1;
    return true;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
