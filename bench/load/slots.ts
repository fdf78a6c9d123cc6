/**
 * Fixed-width slots of a body that get a new value with every send: a request is built once, and each send writes a
 * few digits without serialising.
 */
export const slots = {
  /** A unique number for each send, for ids. */
  sequence: '#sequence####',
  /** One of `visitors` numbers. */
  visitor: '#visitor#',
  /** When the request was due, in ms since the epoch with three decimals; a number in JSON, not a text. */
  time: '9000000000000.125',
} as const;

const widths = { sequence: slots.sequence.length, visitor: slots.visitor.length, time: slots.time.length };

/** Writes a whole number right-aligned with zeros. */
function writeDigits(bytes: Buffer, at: number, width: number, value: number): void {
  let left = value;
  for (let index = at + width - 1; index >= at; index -= 1) {
    const rest = Math.floor(left / 10);
    bytes[index] = 48 + (left - rest * 10);
    left = rest;
  }
}

/** A request's bytes with its slots. Each connection has its own copy, because a write may still read it. */
export class RequestTemplate {
  readonly bytes: Buffer;
  /** Number of ids that one send uses. */
  readonly sequences: number;
  readonly #sequenceAt: readonly number[];
  readonly #visitorAt: readonly number[];
  readonly #timeAt: readonly number[];

  constructor(request: Buffer) {
    this.bytes = Buffer.from(request);
    this.#sequenceAt = positionsOf(this.bytes, slots.sequence);
    this.#visitorAt = positionsOf(this.bytes, slots.visitor);
    this.#timeAt = positionsOf(this.bytes, slots.time);
    this.sequences = Math.max(1, this.#sequenceAt.length);
  }

  /** Fills the slots for a send that begins at `sequence` and was due at `dueMs` since the epoch. */
  fill(sequence: number, visitors: number, dueMs: number): void {
    for (const [index, at] of this.#sequenceAt.entries()) {
      writeDigits(this.bytes, at, widths.sequence, sequence + index);
    }
    for (const [index, at] of this.#visitorAt.entries()) {
      // A step that shares no factor with the usual counts reaches every visitor before it repeats one.
      writeDigits(this.bytes, at, widths.visitor, ((sequence + index) * 7919) % visitors);
    }
    const wholeMs = Math.floor(dueMs);
    for (const at of this.#timeAt) {
      writeDigits(this.bytes, at, 13, wholeMs);
      writeDigits(this.bytes, at + 14, 3, Math.floor((dueMs - wholeMs) * 1000));
    }
  }
}

function positionsOf(bytes: Buffer, slot: string): number[] {
  const found: number[] = [];
  for (let at = bytes.indexOf(slot); at !== -1; at = bytes.indexOf(slot, at + slot.length)) found.push(at);
  return found;
}
