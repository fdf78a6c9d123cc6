/**
 * Fixed-width slots of a body that get a new value with every send: a request is serialised once, and each send only
 * overwrites a few digits.
 */
export const slots = {
  /** A number that is unique for each send, for ids. */
  sequence: '#sequence####',
  /** One of `visitors` different numbers. */
  visitor: '#visitor#',
  /** When the request was due, in ms since the epoch with three decimals; in JSON a number, not a string. */
  time: '9000000000000.125',
} as const;

const widths = { sequence: slots.sequence.length, visitor: slots.visitor.length, time: slots.time.length };

/** Writes a whole number, padded with leading zeros to `width` digits. */
function writeDigits(bytes: Buffer, at: number, width: number, value: number): void {
  let left = value;
  for (let index = at + width - 1; index >= at; index -= 1) {
    const rest = Math.floor(left / 10);
    bytes[index] = 48 + (left - rest * 10);
    left = rest;
  }
}

/**
 * The bytes of a request with slots. Each connection has its own copy, because a write in progress may still read the
 * bytes.
 */
export class RequestTemplate {
  readonly bytes: Buffer;
  /** How many sequence numbers one send uses. */
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

  /** Fills the slots. `sequence` is the first of the send's numbers; `dueMs` counts from the epoch. */
  fill(sequence: number, visitors: number, dueMs: number): void {
    for (const [index, at] of this.#sequenceAt.entries()) {
      writeDigits(this.bytes, at, widths.sequence, sequence + index);
    }
    for (const [index, at] of this.#visitorAt.entries()) {
      // The prime step shares no factor with the usual numbers of visitors, so every visitor is used before one
      // repeats.
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
