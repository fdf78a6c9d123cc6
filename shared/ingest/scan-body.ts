import { PlainEvent, readPlainEvent } from './plain-event.ts';
import { textField } from './plain-fields.ts';
import { skipJsonSpace } from './plain-scalar.ts';
import { JsonFacts, ascii, noteKey, scanString, scanValue } from './scan-value.ts';

/** One element of `events`. Objects are reused: read them before the next scan. */
export class RowScan {
  /** Range of the row's bytes. */
  start = 0;
  end = 0;
  readonly facts = new JsonFacts();
  /** Whether it needs no parsing and no check to be known as valid; `plain` then says all there is to know of it. */
  isPlain = false;
  readonly plain = new PlainRow();
}

/** What a plain row says. */
export class PlainRow {
  /** Range of its id's text. */
  idStart = 0;
  idEnd = 0;
  /** Range of the text that decides its partition, unless that is the e-mail address. */
  ownStart = 0;
  ownEnd = 0;
  email: string | undefined;
  time: number | undefined;
}

/** What one pass over a body tells before it is parsed. Reused from scan to scan. */
export class BodyScan {
  /** Of everything but the rows. */
  readonly facts = new JsonFacts();
  /** Where the text of the top-level `token` stands, between its quotes; -1 when it is absent or no string. */
  tokenStart = -1;
  tokenEnd = -1;
  /** Where the key of the top-level value that nests deepest stands, between its quotes; -1 when none nests. Rows do not count. */
  deepStart = -1;
  deepEnd = -1;
  /** Elements of the top-level array `events`; only the first `rowsMax` are in `rows`. */
  rowCount = 0;
  readonly rows: RowScan[] = [];
  /** Where the rows stand, from behind the `[` to the `]`; -1 when there is no array `events`. */
  rowsStart = -1;
  rowsEnd = -1;
  /** What is being read. */
  readonly event = new PlainEvent();
}

/**
 * - `malformed`: no JSON, seen without parsing it.
 * - `not_object`: no JSON object.
 * - `duplicate_key`: the top level has `token` or `events` twice, so readers could differ on which one counts.
 */
export type ScanProblem = 'malformed' | 'not_object' | 'duplicate_key';

const { lineFeed, space, quote, comma, colon, openBracket, closeBracket, openBrace, closeBrace } = ascii;

/**
 * Scans a body in one pass: how deep it nests, how many keys it has, where its token and, when `rowsMax` > 0, its rows
 * stand. The rest of the grammar is left to JSON.parse. Raw line breaks become spaces, so that the body fits on one
 * line of a frame.
 */
export function scanBody(scan: BodyScan, bytes: Buffer, rowsMax = 0): ScanProblem | undefined {
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
  let at = skipSpace(bytes, 0);
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
 * Scans the elements behind the `[` of `events` and returns the index behind its `]`. Where what stands between the
 * elements is no JSON, it returns the body's length: a body that ends there is malformed.
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
  if (row.isPlain) {
    keepPlain(row.plain, event, bytes);
    return event.end;
  }
  row.facts.reset();
  return scanValue(row.facts, bytes, start);
}

function keepPlain(plain: PlainRow, event: PlainEvent, bytes: Buffer): void {
  const { userId, externalId, email, distinctId } = textField;
  const hasEmail = event.has(email) && !event.has(userId) && !event.has(externalId);
  const own = event.has(userId) ? userId : event.has(externalId) ? externalId : distinctId;
  plain.idStart = event.starts[distinctId] ?? 0;
  plain.idEnd = event.ends[distinctId] ?? 0;
  plain.ownStart = event.starts[own] ?? 0;
  plain.ownEnd = event.ends[own] ?? 0;
  plain.email = hasEmail ? bytes.toString('utf8', event.starts[email], event.ends[email]) : undefined;
  plain.time = event.time;
}

/** Takes what is learned of rows beyond the limit, which nobody reads. */
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
