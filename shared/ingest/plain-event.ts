import { isPrototypeKey, plainField, textField, textFieldCount } from './plain-fields.ts';
import type { PlainField, TextField } from './plain-fields.ts';
import { digitsEnd, numberEnd, plainStringEnd, skipJsonSpace, standsAt } from './plain-scalar.ts';
import { ascii } from './scan-value.ts';
import type { JsonFacts } from './scan-value.ts';

/** What is read of a plain event. Reused: look at it before the next one is read. */
export class PlainEvent {
  /** The index behind its closing brace. */
  end = 0;
  /** In ms since the epoch; undefined when it is absent or null. */
  time: number | undefined;
  /** Ranges of texts between their quotes, by field; old where it has none. */
  readonly starts = new Int32Array(textFieldCount);
  readonly ends = new Int32Array(textFieldCount);
  /** While it is read: the field whose value comes next. */
  field: PlainField | undefined;
  /** One bit for each field that came, and for each that has a text. */
  met = 0;
  texts = 0;

  reset(): void {
    this.time = undefined;
    this.field = undefined;
    this.met = 0;
    this.texts = 0;
  }

  has(field: TextField): boolean {
    return (this.texts & (1 << field)) !== 0;
  }

  /** What it says of itself; `facts` are its own. */
  fields(bytes: Buffer, facts: JsonFacts): PlainFields {
    const encoding = facts.bits < firstNonAscii ? 'latin1' : 'utf8';
    return {
      token: this.#text(textField.token, bytes, encoding),
      userId: this.#text(textField.userId, bytes, encoding),
      externalId: this.#text(textField.externalId, bytes, encoding),
      email: this.#text(textField.email, bytes, encoding),
      distinctId: this.#text(textField.distinctId, bytes, encoding),
      time: this.time,
    };
  }

  #text(field: TextField, bytes: Buffer, encoding: 'latin1' | 'utf8'): string | undefined {
    return this.has(field) ? bytes.toString(encoding, this.starts[field], this.ends[field]) : undefined;
  }
}

/** Fields of a plain event that decide where it goes; undefined where one is absent or null. */
export type PlainFields = {
  readonly token: string | undefined;
  readonly userId: string | undefined;
  readonly externalId: string | undefined;
  readonly email: string | undefined;
  readonly distinctId: string | undefined;
  readonly time: number | undefined;
};

const { quote, comma, colon, openBracket, closeBracket, openBrace, closeBrace } = ascii;
const firstNonAscii = 0x80;
/** One bit a level has to fit into a whole number. */
const depthMax = 30;
const timeDigitsMax = 15;
const nullWord = Buffer.from('null');
const trueWord = Buffer.from('true');
const falseWord = Buffer.from('false');

/**
 * Reads the event whose JSON begins at `start` in one pass, and builds nothing: half the cost of parsing it.
 *
 * True says that it is what nearly all events are: JSON that JSON.parse takes, that names an event, that passes the
 * check of a track payload and of a batch row but for what is missing, and in which no key and no escape needs a
 * closer look. Left to the caller: required fields, limits, and whether it is UTF-8 where `facts.bits` says it is not
 * ASCII. False says nothing about it: it is to be scanned, parsed and checked.
 */
export function readPlainEvent(event: PlainEvent, facts: JsonFacts, bytes: Uint8Array, start: number): boolean {
  facts.reset();
  event.reset();
  if (bytes[start] !== openBrace) return false;
  let at = start;
  let depth = 0;
  // One bit a level, the innermost lowest: set for an object.
  let objects = 0;
  for (;;) {
    const byte = bytes[at];
    const opensObject = byte === openBrace;
    if (opensObject || byte === openBracket) {
      if (depth === depthMax || !takesNested(event, opensObject)) return false;
      depth += 1;
      objects = (objects << 1) | (opensObject ? 1 : 0);
      if (depth > facts.depth) facts.depth = depth;
      at = skipJsonSpace(bytes, at + 1);
      if (bytes[at] !== (opensObject ? closeBrace : closeBracket)) {
        if (opensObject) at = memberValue(event, facts, bytes, at, depth);
        if (at < 0) return false;
        continue;
      }
    } else {
      at = leafEnd(event, facts, bytes, at);
      if (at < 0) return false;
    }
    at = skipJsonSpace(bytes, at);
    while (bytes[at] !== comma) {
      if (bytes[at] !== ((objects & 1) === 1 ? closeBrace : closeBracket)) return false;
      depth -= 1;
      objects >>= 1;
      at += 1;
      if (depth === 0) {
        event.end = at;
        return event.has(textField.event);
      }
      at = skipJsonSpace(bytes, at);
    }
    at = skipJsonSpace(bytes, at + 1);
    if ((objects & 1) === 1) at = memberValue(event, facts, bytes, at, depth);
    if (at < 0) return false;
  }
}

/** Reads the key at `start` and returns where its value begins; -1 when it is not plain. */
function memberValue(event: PlainEvent, facts: JsonFacts, bytes: Uint8Array, start: number, depth: number): number {
  if (bytes[start] !== quote) return -1;
  const end = plainStringEnd(facts, bytes, start + 1);
  if (end < 0 || facts.stringEscaped || isPrototypeKey(bytes, start + 1, end)) return -1;
  facts.keys += 1;
  if (depth === 1) {
    const field = plainField(bytes, start + 1, end);
    event.field = field;
    if (field !== undefined) {
      const bit = 1 << field.index;
      // Of a field that comes twice the last one counts.
      if ((event.met & bit) !== 0) return -1;
      event.met |= bit;
    }
  }
  const colonAt = skipJsonSpace(bytes, end + 1);
  return bytes[colonAt] === colon ? skipJsonSpace(bytes, colonAt + 1) : -1;
}

function takesNested(event: PlainEvent, isObject: boolean): boolean {
  const { field } = event;
  event.field = undefined;
  return field === undefined || (isObject && field.takes === 'object');
}

/** The index behind the string, number or word at `start`; -1 when it is not plain. */
function leafEnd(event: PlainEvent, facts: JsonFacts, bytes: Uint8Array, start: number): number {
  const { field } = event;
  event.field = undefined;
  if (bytes[start] === quote) {
    const end = plainStringEnd(facts, bytes, start + 1);
    if (end < 0 || (field !== undefined && !keepText(event, field, facts, start + 1, end))) return -1;
    return end + 1;
  }
  switch (bytes[start]) {
    case nullWord[0]:
      return field === undefined || field.nullable ? wordEnd(bytes, start, nullWord) : -1;
    case trueWord[0]:
      return field === undefined ? wordEnd(bytes, start, trueWord) : -1;
    case falseWord[0]:
      return field === undefined ? wordEnd(bytes, start, falseWord) : -1;
    default: {
      const end = numberEnd(bytes, start);
      return end >= 0 && (field === undefined || keepTime(event, field, bytes, start, end)) ? end : -1;
    }
  }
}

const wordEnd = (bytes: Uint8Array, start: number, word: Uint8Array): number =>
  standsAt(bytes, start, word) ? start + word.length : -1;

function keepText(event: PlainEvent, field: PlainField, facts: JsonFacts, start: number, end: number): boolean {
  if (field.takes !== 'text' || facts.stringEscaped || end === start || end - start > field.bytesMax) return false;
  event.starts[field.index] = start;
  event.ends[field.index] = end;
  event.texts |= 1 << field.index;
  return true;
}

/** Takes whole numbers, as clocks give them. */
function keepTime(event: PlainEvent, field: PlainField, bytes: Uint8Array, start: number, end: number): boolean {
  if (field.takes !== 'time' || digitsEnd(bytes, start) !== end || end - start > timeDigitsMax) return false;
  let time = 0;
  for (let at = start; at < end; at += 1) time = time * 10 + ((bytes[at] ?? 0) - 0x30);
  event.time = time;
  return true;
}
