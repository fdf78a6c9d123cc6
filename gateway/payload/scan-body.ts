import { payloadFieldRows, textFieldNames } from '../../shared/contracts/ingest/payload-fields.ts';
import type { PayloadField, TextFieldName } from '../../shared/contracts/ingest/payload-fields.ts';
import { isPlaceholderAt } from '../../shared/contracts/events/placeholder-identifier.ts';
import { NameTable } from '../../shared/json/name-table.ts';
import {
  digitsEnd,
  isPrototypeKey,
  numberEnd,
  plainStringEnd,
  skipJsonSpace,
  startOfJson,
  ascii,
  JsonFacts,
  noteKey,
  scanString,
  scanValue,
  wordEnd,
} from '../../shared/json/scan-json.ts';

const { lineFeed, space, quote, comma, colon, openBracket, closeBracket, openBrace, closeBrace } = ascii;

/** The fields whose texts are read, and their indexes. */
export const textField = Object.fromEntries(textFieldNames.map((name, index) => [name, index])) as {
  readonly [Name in TextFieldName]: number;
};
const textFieldCount = textFieldNames.length;

/** The rule of an event's field, in the form that the scanner checks. */
type PlainField = {
  readonly name: string;
  /** The field's bit in a 32-bit number. For a text also its index in `textField`. */
  readonly index: number;
  /**
   * The allowed values in addition to null. `nothing`: the field's members have rules of their own, so the field is
   * plain only if it is null.
   */
  readonly takes: 'text' | 'object' | 'time' | 'nothing';
  readonly nullable: boolean;
  /** A text's limit of characters, applied to its bytes: a text has at most as many characters as bytes. */
  readonly bytesMax: number;
};

const takenBy = { text: 'text', time: 'time', object: 'object', visitor: 'nothing', network: 'nothing' } as const;

/** A field is plain if it passes the checks of both a track payload and a row. */
const scannedFields: readonly PlainField[] = payloadFieldRows
  .filter(({ rule, track, row }) => rule in takenBy && (track ?? row) !== undefined)
  .toSorted((one, other) => Number(other.rule === 'text') - Number(one.rule === 'text'))
  .map(({ name, rule, charactersMax = 0, track, row }: PayloadField & { readonly name: string }, index) => ({
    name,
    index,
    takes: takenBy[rule as keyof typeof takenBy],
    nullable: track !== 'required' && row !== 'required',
    bytesMax: charactersMax,
  }));

const fieldsByName = new NameTable(scannedFields.map((one) => [one.name, one] as const));

/** The fields read from a plain event. The object is reused: use it before the next event is read. */
export class PlainEvent {
  /** The index after the event's closing brace. */
  end = 0;
  /** In ms since the epoch; undefined when it is absent or null. */
  time: number | undefined;
  /** Ranges of texts between their quotes, by field; stale, from an earlier event, if the field has no text. */
  readonly starts = new Int32Array(textFieldCount);
  readonly ends = new Int32Array(textFieldCount);
  /** During the scan: the field whose value comes next. */
  field: PlainField | undefined;
  /** One bit for each field that is present, and for each that has a text. */
  met = 0;
  texts = 0;

  reset(): void {
    this.time = undefined;
    this.field = undefined;
    this.met = 0;
    this.texts = 0;
  }

  has(field: number): boolean {
    return (this.texts & (1 << field)) !== 0;
  }

  /** The fields that the body contains; `facts` are the findings of the scan. */
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

  #text(field: number, bytes: Buffer, encoding: 'latin1' | 'utf8'): string | undefined {
    return this.has(field) ? bytes.toString(encoding, this.starts[field], this.ends[field]) : undefined;
  }
}

/** Fields of a plain event that decide its partition; undefined if absent or null. */
export type PlainFields = { readonly [Name in Exclude<TextFieldName, 'event'>]: string | undefined } & {
  readonly time: number | undefined;
};

const firstNonAscii = 0x80;
/** One bit per level has to fit into a 32-bit number. */
const depthMax = 30;
const timeDigitsMax = 15;
const firstOfNull = 0x6e;
const firstOfTrue = 0x74;
const firstOfFalse = 0x66;

/**
 * Reads the event whose JSON begins at `start` in one pass, and builds nothing: half the cost of parsing it.
 *
 * True for a plain event, as nearly all are: valid JSON that names an event, passes the check of a track payload and of
 * a batch row except for missing fields, and has no unusual key or escape. The caller checks required fields, limits,
 * and that the text is UTF-8 if `facts.bits` shows that it is not ASCII. After false the event may still be valid, so
 * it has to be scanned, parsed and checked.
 */
export function readPlainEvent(event: PlainEvent, facts: JsonFacts, bytes: Uint8Array, start: number): boolean {
  facts.reset();
  event.reset();
  if (bytes[start] !== openBrace) return false;
  let at = start;
  let depth = 0;
  // One bit per level, set if the level is an object. The lowest bit is the innermost level.
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

/** Reads the key at `start` and returns the index of its value; -1 if the member is not plain. */
function memberValue(event: PlainEvent, facts: JsonFacts, bytes: Uint8Array, start: number, depth: number): number {
  if (bytes[start] !== quote) return -1;
  const end = plainStringEnd(facts, bytes, start + 1);
  if (end < 0 || facts.stringEscaped || isPrototypeKey(bytes, start + 1, end)) return -1;
  facts.keys += 1;
  if (depth === 1) {
    const field = fieldsByName.find(bytes, start + 1, end);
    event.field = field;
    if (field !== undefined) {
      const bit = 1 << field.index;
      // An event with a repeated field is not plain, because the last value counts.
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

/** The index after the string, number or word at `start`; -1 when it is not plain. */
function leafEnd(event: PlainEvent, facts: JsonFacts, bytes: Uint8Array, start: number): number {
  const { field } = event;
  event.field = undefined;
  if (bytes[start] === quote) {
    const end = plainStringEnd(facts, bytes, start + 1);
    if (end < 0 || (field !== undefined && !keepText(event, field, facts, start + 1, end))) return -1;
    return end + 1;
  }
  switch (bytes[start]) {
    case firstOfNull:
      return field === undefined || field.nullable ? wordEnd(bytes, start) : -1;
    case firstOfTrue:
    case firstOfFalse:
      return field === undefined ? wordEnd(bytes, start) : -1;
    default: {
      const end = numberEnd(bytes, start);
      return end >= 0 && (field === undefined || keepTime(event, field, bytes, start, end)) ? end : -1;
    }
  }
}

function keepText(event: PlainEvent, field: PlainField, facts: JsonFacts, start: number, end: number): boolean {
  if (field.takes !== 'text' || facts.stringEscaped || end === start || end - start > field.bytesMax) return false;
  event.starts[field.index] = start;
  event.ends[field.index] = end;
  event.texts |= 1 << field.index;
  return true;
}

/** Accepts whole numbers only, as clocks give them. */
function keepTime(event: PlainEvent, field: PlainField, bytes: Uint8Array, start: number, end: number): boolean {
  if (field.takes !== 'time' || digitsEnd(bytes, start) !== end || end - start > timeDigitsMax) return false;
  let time = 0;
  for (let at = start; at < end; at += 1) time = time * 10 + ((bytes[at] ?? 0) - 0x30);
  event.time = time;
  return true;
}

/** One element of `events`. Objects are reused: read them before the next scan. */
export class RowScan {
  /** Range of the row's bytes. */
  start = 0;
  end = 0;
  readonly facts = new JsonFacts();
  /** Whether the row is known to be valid without parsing and check; `plain` then has all its fields. */
  isPlain = false;
  readonly plain = new PlainRow();
}

/** The fields of a plain row. */
export class PlainRow {
  /** Range of the text of the row's id. */
  idStart = 0;
  idEnd = 0;
  /** Range of the text that decides the row's partition, unless that text is the e-mail address. */
  ownStart = 0;
  ownEnd = 0;
  email: string | undefined;
  time: number | undefined;
}

/** What one scan of a body finds before it is parsed. Reused from scan to scan. */
export class BodyScan {
  /** Facts of the body without its rows. */
  readonly facts = new JsonFacts();
  /** The range of the top-level `token`, between its quotes; -1 when it is absent or no string. */
  tokenStart = -1;
  tokenEnd = -1;
  /**
   * Range, between its quotes, of the key of the top-level value that nests deepest, not counting rows; -1 if none
   * nests.
   */
  deepStart = -1;
  deepEnd = -1;
  /** Elements of the top-level array `events`; only the first `rowsMax` are in `rows`. */
  rowCount = 0;
  readonly rows: RowScan[] = [];
  /** The range of the rows, from after the `[` to the `]`; -1 when there is no array `events`. */
  rowsStart = -1;
  rowsEnd = -1;
  /** The event being read. */
  readonly event = new PlainEvent();
}

/**
 * - `malformed`: the body is not JSON, as the scan shows without parsing.
 * - `not_object`: the body is not a JSON object.
 * - `duplicate_key`: the top level has `token` or `events` twice, so readers could differ on which one counts.
 * - `unknown_token`: the token is unknown; the rest of the body was not scanned.
 */
export type ScanProblem = 'malformed' | 'not_object' | 'duplicate_key' | 'unknown_token';

/**
 * Scans a body in one pass: how deep it nests, how many keys it has, where its token and, if `rowsMax` > 0, its rows
 * are. JSON.parse checks the rest of the grammar. Raw line breaks become spaces, so that the body fits on one line of a
 * frame. `isKnown` is called with the token as soon as it was read, unless its text contains an escape; after an
 * unknown token the scan ends. So `bytes` may be only the beginning of a body. Large: reads every request once, and a
 * call per character would cost more than the scan.
 */
export function scanBody(
  scan: BodyScan,
  bytes: Buffer,
  rowsMax = 0,
  isKnown?: (token: string) => boolean,
): ScanProblem | undefined {
  const { facts } = scan;
  facts.reset();
  scan.tokenStart = -1;
  scan.tokenEnd = -1;
  scan.deepStart = -1;
  scan.deepEnd = -1;
  scan.rowCount = 0;
  scan.rowsStart = -1;
  scan.rowsEnd = -1;
  let eventsSeen = false;
  let at = startOfJson(bytes);
  if (at >= bytes.length) return 'malformed';
  if (bytes[at] !== openBrace) return 'not_object';
  let tokenSeen = false;
  let nested = 0;
  at = skipSpace(bytes, at + 1);
  while (bytes[at] !== closeBrace) {
    if (bytes[at] !== quote) return 'malformed';
    const keyEnd = scanString(facts, bytes, at);
    const colonAt = skipSpace(bytes, keyEnd + 1);
    if (bytes[colonAt] !== colon) return 'malformed';
    noteKey(facts, bytes, colonAt);
    const keyStart = facts.stringStart;
    const key = readKey(bytes, keyStart, keyEnd, facts.stringEscaped);
    at = skipSpace(bytes, colonAt + 1);
    if (key === 'token') {
      if (tokenSeen) return 'duplicate_key';
      tokenSeen = true;
      const end = scanValue(facts, bytes, at);
      if (bytes[at] === quote) {
        scan.tokenStart = at + 1;
        scan.tokenEnd = end - 1;
        const isWhole = end <= bytes.length && bytes[end - 1] === quote && !facts.stringEscaped;
        if (isWhole && isKnown?.(bytes.toString('utf8', at + 1, end - 1)) === false) return 'unknown_token';
      }
      at = end;
    } else if (key === 'events' && rowsMax > 0) {
      if (eventsSeen) return 'duplicate_key';
      eventsSeen = true;
      at = bytes[at] === openBracket ? scanRows(scan, bytes, at + 1, rowsMax) : scanValue(facts, bytes, at);
    } else {
      at = scanValue(facts, bytes, at);
    }
    if (facts.depth > nested) {
      nested = facts.depth;
      scan.deepStart = keyStart;
      scan.deepEnd = keyEnd;
    }
    at = skipSpace(bytes, at);
    if (bytes[at] === comma) at = skipSpace(bytes, at + 1);
    else if (bytes[at] !== closeBrace) return 'malformed';
  }
  facts.depth = nested + 1;
  return skipSpace(bytes, at + 1) < bytes.length ? 'malformed' : undefined;
}

/**
 * Scans the elements after the `[` of `events` and returns the index after its `]`. If the text between two elements is
 * not JSON, returns the body's length: a body that ends there is malformed.
 */
function scanRows(scan: BodyScan, bytes: Buffer, start: number, rowsMax: number): number {
  const length = bytes.length;
  scan.rowsStart = start;
  let at = skipJsonSpace(bytes, start);
  if (bytes[at] !== closeBracket) {
    for (;;) {
      scan.rowCount += 1;
      const row = scan.rowCount > rowsMax ? uncountedRow : (scan.rows[scan.rowCount - 1] ??= new RowScan());
      row.start = at;
      row.end = scanRow(scan, row, bytes, at);
      scan.facts.keys += row.facts.keys;
      scan.facts.bits |= row.facts.bits;
      at = skipJsonSpace(bytes, row.end);
      if (bytes[at] === closeBracket) break;
      if (bytes[at] !== comma || row.end === row.start) return length;
      at = skipJsonSpace(bytes, at + 1);
    }
  }
  scan.rowsEnd = at;
  return at + 1;
}

function scanRow(scan: BodyScan, row: RowScan, bytes: Buffer, start: number): number {
  const { event } = scan;
  row.isPlain =
    readPlainEvent(event, row.facts, bytes, start) && event.has(textField.distinctId) && !event.has(textField.token);
  if (row.isPlain) row.isPlain = keepPlain(row.plain, event, bytes);
  if (row.isPlain) return event.end;
  row.facts.reset();
  return scanValue(row.facts, bytes, start);
}

/** False if the text that decides the row's partition is a placeholder, so that the row has to be parsed. */
function keepPlain(plain: PlainRow, event: PlainEvent, bytes: Buffer): boolean {
  const { userId, externalId, email, distinctId } = textField;
  const hasEmail = event.has(email) && !event.has(userId) && !event.has(externalId);
  const own = event.has(userId) ? userId : event.has(externalId) ? externalId : distinctId;
  plain.idStart = event.starts[distinctId] ?? 0;
  plain.idEnd = event.ends[distinctId] ?? 0;
  plain.ownStart = event.starts[own] ?? 0;
  plain.ownEnd = event.ends[own] ?? 0;
  plain.email = hasEmail ? bytes.toString('utf8', event.starts[email], event.ends[email]) : undefined;
  plain.time = event.time;
  if (hasEmail) return !isPlaceholderAt(bytes, event.starts[email] ?? 0, event.ends[email] ?? 0);
  return own === distinctId || !isPlaceholderAt(bytes, plain.ownStart, plain.ownEnd);
}

/** Receives the facts of rows beyond the limit, which are not used. */
const uncountedRow = new RowScan();

function skipSpace(bytes: Uint8Array, start: number): number {
  let at = start;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte > space) break;
    if (byte === lineFeed) bytes[at] = space;
  }
  return at;
}

const tokenKey = Buffer.from('token');
const eventsKey = Buffer.from('events');

function readKey(bytes: Uint8Array, start: number, end: number, escaped: boolean): string | undefined {
  if (escaped) return readEscapedKey(bytes, start, end);
  if (equals(bytes, start, end, tokenKey)) return 'token';
  return equals(bytes, start, end, eventsKey) ? 'events' : undefined;
}

function readEscapedKey(bytes: Uint8Array, start: number, end: number): string | undefined {
  try {
    return String(JSON.parse(`"${Buffer.from(bytes.subarray(start, end)).toString('utf8')}"`));
  } catch {
    return undefined;
  }
}

function equals(bytes: Uint8Array, start: number, end: number, expected: Uint8Array): boolean {
  if (end - start !== expected.length) return false;
  for (let i = 0; i < expected.length; i += 1) if (bytes[start + i] !== expected[i]) return false;
  return true;
}
