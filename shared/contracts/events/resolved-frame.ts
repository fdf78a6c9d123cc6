import type { ByteWriter } from '../../json/byte-writer.ts';
import { ascii } from '../../json/scan-json.ts';
import { openFrame } from './compressed-frame.ts';
import { assertFrame, eachLine, FrameError } from './frame.ts';
import { eventPlace, readEventHead } from './resolved-event.ts';
import type { EventHead } from './resolved-event.ts';

/** A line's reference to the visitor of another line. */
type Reference = {
  readonly line: number;
  /** Characters of the visitor's JSON. */
  readonly characters: number;
  /** Start of the reference. */
  readonly at: number;
};

const { openBracket, closeBracket, closeBrace, comma } = ascii;
const [openingBrace, closingBrace] = [Buffer.from('{'), Buffer.from('}')];
const zero = 0x30;
/** Maximum number of digits of a number in a reference. */
const digitsMax = 9;

/**
 * A resolved frame kept as bytes: a line, or its head, is decoded only when requested. If all lines were decoded at
 * once, their strings would live as long as their events wait, and every garbage collection would copy them.
 */
export class ResolvedFrame {
  readonly #bytes: Buffer;
  /** End of each line. */
  readonly #ends: number[] = [];
  /** The visitor that was referred to last: the next reference is usually to the same visitor. */
  #last: { readonly line: number; readonly characters: number; readonly json: string } | undefined;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    eachLine(bytes, (_start, end) => this.#ends.push(end));
  }

  /** Returns undefined for a frame that cannot be opened, or ends within a line. */
  static open(data: Uint8Array): ResolvedFrame | undefined {
    try {
      const bytes = openFrame(data);
      assertFrame(bytes);
      return new ResolvedFrame(bytes);
    } catch (error) {
      if (error instanceof FrameError) return undefined;
      throw error;
    }
  }

  /** Size of the decompressed frame. */
  get bytes(): number {
    return this.#bytes.length;
  }

  /** Number of lines, and so events. */
  get length(): number {
    return this.#ends.length;
  }

  /** A line as stored: its visitor may be in another line. */
  textAt(index: number): string {
    return this.#bytes.toString('utf8', this.#startOf(index), this.#endOf(index));
  }

  /** The head of a line's event, if it can be read without parsing. */
  headAt(index: number): EventHead | undefined {
    return readEventHead(this.#bytes, this.#startOf(index), this.#endOf(index));
  }

  /** Approximate size of a line with its visitor, in bytes. Throws FrameError if no line has the visitor. */
  bytesAt(index: number): number {
    const reference = this.#referenceAt(index);
    if (reference !== undefined) this.#visitorOf(reference);
    return this.#endOf(index) - this.#startOf(index) + (reference?.characters ?? 0);
  }

  /** A line with its visitor. Throws FrameError if no line has the visitor. */
  lineAt(index: number): string {
    return this.#withVisitor(index, this.#startOf(index));
  }

  /** The text `{"event": …, "visitor": …}` of a line whose head was read. */
  eventJsonAt(index: number, head: EventHead): string {
    return `{${this.#withVisitor(index, eventPlace(this.#startOf(index), head))}`;
  }

  /** Writes the result of `eventJsonAt` as bytes. */
  writeEventJsonAt(writer: ByteWriter, index: number, head: EventHead): void {
    const reference = this.#referenceAt(index);
    const start = eventPlace(this.#startOf(index), head);
    writer.bytes(openingBrace);
    writer.stretch({ bytes: this.#bytes, start, end: reference?.at ?? this.#endOf(index) });
    if (reference === undefined) return;
    writer.text(this.#visitorOf(reference));
    writer.bytes(closingBrace);
  }

  #startOf(index: number): number {
    return index === 0 ? 0 : this.#endOf(index - 1) + 1;
  }

  #endOf(index: number): number {
    return this.#ends[index] ?? this.#bytes.length;
  }

  #withVisitor(index: number, from: number): string {
    const reference = this.#referenceAt(index);
    if (reference === undefined) return this.#bytes.toString('utf8', from, this.#endOf(index));
    return `${this.#bytes.toString('utf8', from, reference.at)}${this.#visitorOf(reference)}}`;
  }

  /** Reads a reference from the end of its line. A line that contains its visitor ends with two braces instead. */
  #referenceAt(index: number): Reference | undefined {
    const bytes = this.#bytes;
    const end = this.#endOf(index);
    if (bytes[end - 1] !== closeBrace || bytes[end - 2] !== closeBracket) return undefined;
    const characters = this.#numberBefore(end - 2);
    if (bytes[characters.at - 1] !== comma) throw misleading();
    const line = this.#numberBefore(characters.at - 1);
    if (bytes[line.at - 1] !== openBracket) throw misleading();
    return { line: line.value, characters: characters.value, at: line.at - 1 };
  }

  /** Reads the whole number that ends before `end`, and where it starts. */
  #numberBefore(end: number): { readonly value: number; readonly at: number } {
    let at = end;
    let value = 0;
    for (let power = 1; end - at < digitsMax; power *= 10) {
      const digit = (this.#bytes[at - 1] ?? 0) - zero;
      if (digit < 0 || digit > 9) break;
      value += digit * power;
      at -= 1;
    }
    if (at === end) throw misleading();
    return { value, at };
  }

  #visitorOf({ line, characters }: Reference): string {
    if (this.#last?.line !== line || this.#last.characters !== characters) {
      const json = line < this.length ? this.textAt(line).slice(-1 - characters, -1) : '';
      if (json.length !== characters || !json.startsWith('{')) throw misleading();
      this.#last = { line, characters, json };
    }
    return this.#last.json;
  }
}

const misleading = (): FrameError =>
  new FrameError('reading a resolved frame: no line has the visitor that a line refers to');
