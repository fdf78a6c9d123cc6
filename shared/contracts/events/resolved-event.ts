import { parseExact, stringifyExact } from '../../json/exact-numbers.ts';
import { isJsonObject, numberJson, quoteJson } from '../../runtime/json.ts';
import { ByteWriter } from '../../json/byte-writer.ts';
import { ascii, standsAt } from '../../json/scan-json.ts';
import type { ConsentWords } from './consent-words.ts';
import { openFrame } from './compressed-frame.ts';
import { sampleHash, sampleHashOf } from './event-hash.ts';
import { FrameError, asBuffer, countLines, frameLines, parseLine, textLines } from './frame.ts';
import { refusedVersion } from '../log-format.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * An event with its visitor, as the resolver writes it and every destination reads it. Templates and rules refer to its
 * members by path.
 */
export type ResolvedEvent = {
  readonly v: 1;
  readonly event: {
    /** The event's own id, which is the idempotency key of every delivery. */
    readonly id: string;
    /** The event's name; `$identify` for an identify. */
    readonly event: string;
    /** When the event happened, in ms since the epoch. */
    readonly time: number;
    readonly received_at: number;
    readonly source_id: string;
    readonly account_id: string;
    /** Whether the client sent it with a test-mode key: it is shown in recent events, but never dispatched. */
    readonly test: boolean;
    readonly trace?: string;
    /**
     * Whether the sender allows a destination, by the destination's name or kind; `All` means all destinations not
     * named.
     */
    readonly integrations?: Integrations;
    /** The consent that the event states; absent if it states none. */
    readonly consent?: ConsentWords;
    readonly event_properties: Json;
    /**
     * defaultProperties of the payload, with `ip` and `user_agent` of the visitor. The address and User-Agent of a
     * server that sent the event are in `sender`, if the source keeps them: no destination receives them as the
     * visitor's.
     */
    readonly context: Json;
    /** Number of the account's live version when the event was resolved. */
    readonly version_number?: number;
  };
  readonly visitor: ResolvedVisitor;
};

/** The member of an event's context that contains the address and the User-Agent of a calling server. */
export const senderKey = 'sender';

/** The member of an event's context that contains options for single destinations, by destination name. */
export const integrationsKey = 'integrations';

/** Destinations that an event allows (true) or excludes (false). */
export type Integrations = Readonly<Record<string, boolean>>;

/** The visitor as it is after this event, with well-known and custom properties. */
export type ResolvedVisitor = {
  readonly id: string;
  readonly external_id?: string;
  readonly email?: string;
  readonly custom_properties: Json;
  readonly [property: string]: unknown;
};

/** The part of an event that every dispatcher needs. It is at the start of a line, before the event's properties. */
export type EventHead = {
  readonly id: string;
  readonly name: string;
  readonly visitorId: string;
  readonly sourceId: string;
  /** Ms since the epoch. */
  readonly receivedAtMs: number;
  readonly isTest: boolean;
  readonly trace: string | undefined;
  /** Integrations as JSON; rarely present. */
  readonly integrations: string | undefined;
  /** The consent that the event states, as JSON. */
  readonly consent: string | undefined;
};

// The fixed texts in the format of a line. The readers below find these texts without parsing a line: the writers and
// readers of the format are all in this file, and tests check that they agree.

const beforeVisitorId = '{"v":1,"visitor_id":';
const beforeVisitor = ',"visitor":';
const referenceEnd = ']}';
const reference = /^\[(\d{1,9}),(\d{1,9})\]\}$/;
const headMarks = {
  visitorId: Buffer.from('{"v":1,"visitor_id":"'),
  id: Buffer.from(',"event":{"id":"'),
  name: Buffer.from(',"event":"'),
  time: Buffer.from(',"time":'),
  receivedAt: Buffer.from(',"received_at":'),
  sourceId: Buffer.from(',"source_id":"'),
  accountId: Buffer.from(',"account_id":"'),
  isTest: Buffer.from(',"test":true'),
  isLive: Buffer.from(',"test":false'),
  trace: Buffer.from(',"trace":"'),
  integrations: Buffer.from(',"integrations":'),
  consent: Buffer.from(',"consent":'),
  properties: Buffer.from(',"event_properties":'),
};

/** An event without its visitor; missing fields may be undefined. */
export type EventParts = Omit<ResolvedEvent['event'], 'trace' | 'integrations' | 'consent' | 'version_number'> & {
  readonly trace?: string | undefined;
  readonly integrations?: Integrations | undefined;
  readonly consent?: ConsentWords | undefined;
  readonly version_number?: number | undefined;
};

/** The event's part of a line, as JSON: first the fields that every reader needs, then the client's content. */
export function encodeEventParts(event: EventParts): string {
  const { event_properties: properties, context, version_number: versionNumber } = event;
  const writer = new ByteWriter(partsBytes);
  writeEventStart(writer, event);
  writer.text(stringifyExact(properties, properties));
  writer.bytes(beforeContext);
  writer.text(stringifyExact(context, context));
  writer.text(eventEnd(versionNumber));
  return asBuffer(writer.copy()).toString('utf8');
}

/** Initial size of the buffer: enough for most events. */
const partsBytes = 1_024;

// The format requires that these parts are written in this order: start, properties, the text before the context,
// context, end.

/** Writes the event's part of a line, up to its properties. */
export function writeEventStart(
  writer: ByteWriter,
  event: Omit<EventParts, 'event_properties' | 'context' | 'version_number'>,
): void {
  const { trace, integrations, consent } = event;
  writer.bytes(beforeId);
  writer.quoted(event.id);
  writer.bytes(beforeName);
  writer.quoted(event.event);
  writer.bytes(beforeTime);
  writer.text(numberJson(event.time));
  writer.bytes(beforeReceivedAt);
  writer.text(numberJson(event.received_at));
  writer.bytes(originJson(event));
  if (trace !== undefined) {
    writer.bytes(beforeTrace);
    writer.quoted(trace);
  }
  if (integrations !== undefined) writer.text(`,"integrations":${JSON.stringify(integrations)}`);
  if (consent !== undefined) writer.text(`,"consent":${JSON.stringify(consent)}`);
  writer.bytes(beforeProperties);
}

// These are bytes: writing a text character by character takes several times as long.
const beforeId = Buffer.from('{"id":');
const beforeName = Buffer.from(',"event":');
const beforeTime = Buffer.from(',"time":');
const beforeReceivedAt = Buffer.from(',"received_at":');
const beforeTrace = Buffer.from(',"trace":');
const beforeProperties = Buffer.from(',"event_properties":');
/** The text between the properties and the context. */
export const beforeContext = Buffer.from(',"context":');

type EventOrigin = Pick<EventParts, 'source_id' | 'account_id' | 'test'>;

/** The members of an event that state its origin, which are usually the same as in the previous event. */
function originJson({ source_id, account_id, test }: EventOrigin): Uint8Array {
  if (lastOrigin?.source_id !== source_id || lastOrigin.account_id !== account_id || lastOrigin.test !== test) {
    const json = `,"source_id":${quoteJson(source_id)},"account_id":${quoteJson(account_id)},"test":${test}`;
    lastOrigin = { source_id, account_id, test, json: Buffer.from(json) };
  }
  return lastOrigin.json;
}

let lastOrigin: (EventOrigin & { readonly json: Uint8Array }) | undefined;

export const eventEnd = (versionNumber: number | undefined): string =>
  versionNumber === undefined ? '}' : `,"version_number":${numberJson(versionNumber)}}`;

/** Joins the JSON of the parts to a line of a resolved frame. */
export function resolvedLine(visitorId: string, eventJson: string, visitorJson: string): string {
  return `${beforeEvent(visitorId)}${eventJson}${behindEvent(visitorJson)}`;
}

/** The text of a line before and after the event. `visitorJson` is a visitor, or a reference to one. */
export const beforeEvent = (visitorId: string): string => `${beforeVisitorId}${quoteJson(visitorId)},"event":`;
export const behindEvent = (visitorJson: string): string => `${beforeVisitor}${visitorJson}}`;

/**
 * A reference to a visitor in an earlier line of the frame: the index of that line, and the length of the visitor's
 * JSON in characters. The JSON ends just before the last brace of that line. A frame contains each visitor only once.
 */
export const visitorReference = (line: number, characters: number): string => `[${line},${characters}]`;

/**
 * The JSON of the visitor that a line refers to; undefined for a line that contains its visitor. Throws FrameError if
 * no line has the visitor.
 */
export function visitorElsewhere(line: string, lineAt: (index: number) => string | undefined): string | undefined {
  if (!line.endsWith(referenceEnd)) return undefined;
  const [, index = '', characters = ''] = reference.exec(line.slice(line.lastIndexOf('['))) ?? [];
  const visitor = lineAt(Number(index))?.slice(-1 - Number(characters), -1);
  if (index === '' || visitor?.startsWith('{') !== true) {
    throw new FrameError('reading a resolved frame: no line has the visitor that a line refers to');
  }
  return visitor;
}

/** The line with `visitorJson` in place of its reference; unchanged if the line contains its visitor. */
export function withVisitor(line: string, visitorJson: string | undefined): string {
  return visitorJson === undefined ? line : `${line.slice(0, line.lastIndexOf('['))}${visitorJson}}`;
}

export function encodeResolved({ event, visitor }: ResolvedEvent): string {
  return resolvedLine(visitor.id, encodeEventParts(event), stringifyExact(visitor, visitor));
}

/**
 * Reads only the head of the line at bytes[start, end), for a quarter of the cost of parsing. Returns undefined if the
 * line has another layout, or a text in the head has an escape: then the line must be parsed, with the same result.
 * Callers count parsed lines.
 */
export function readEventHead(bytes: Buffer, start: number, end: number): EventHead | undefined {
  reading.bytes = bytes;
  reading.at = start;
  reading.end = end;
  const visitorId = readText(headMarks.visitorId);
  const id = readText(headMarks.id);
  const name = readText(headMarks.name, lastTexts.name);
  if (!skipMark(headMarks.time) || !skipNumber()) return undefined;
  const receivedAtMs = readWhole(headMarks.receivedAt);
  const sourceId = readText(headMarks.sourceId, lastTexts.sourceId);
  if (visitorId === undefined || id === undefined || name === undefined || sourceId === undefined) return undefined;
  if (receivedAtMs === undefined || readText(headMarks.accountId, lastTexts.accountId) === undefined) return undefined;
  const isTest = skipMark(headMarks.isTest);
  if (!isTest && !skipMark(headMarks.isLive)) return undefined;
  const trace = readText(headMarks.trace);
  const integrations = skipMark(headMarks.integrations) ? readFlatObject() : undefined;
  const consent = skipMark(headMarks.consent) ? readFlatObject() : undefined;
  if (!skipMark(headMarks.properties)) return undefined;
  return { id, name, visitorId, sourceId, receivedAtMs, isTest, trace, integrations, consent };
}

/** The `sampleHash` of the event in the line at bytes[start, end); 0 if the line cannot be read. */
export function lineSampleHash(bytes: Buffer, start: number, end: number): number {
  reading.bytes = bytes;
  reading.at = start;
  reading.end = end;
  const idStart = skipText(headMarks.visitorId) < 0 ? -1 : skipText(headMarks.id);
  if (idStart >= 0) return sampleHashOf(bytes, idStart, reading.at - 1);
  try {
    return sampleHash(parseResolved(bytes.toString('utf8', start, end)).event.id);
  } catch {
    return 0;
  }
}

/**
 * Skips a mark and the text after it. Returns the start of the text; -1 if the mark is missing or the text has an
 * escape.
 */
function skipText(mark: Uint8Array): number {
  const { bytes, end } = reading;
  if (!standsAt(bytes, reading.at, mark)) return -1;
  const start = reading.at + mark.length;
  let at = start;
  for (; at < end && bytes[at] !== quote; at += 1) if (bytes[at] === backslash) return -1;
  if (at >= end) return -1;
  reading.at = at + 1;
  return start;
}

// One head is read at a time, from beginning to end; `at` is the start of the next part.

const reading: { bytes: Buffer; at: number; end: number } = { bytes: Buffer.alloc(0), at: 0, end: 0 };

/** The text that was read last, and its bytes: the next line usually has the same text. */
type LastText = { bytes: Buffer; text: string };

const lastTexts: Readonly<Record<'name' | 'sourceId' | 'accountId', LastText>> = {
  name: { bytes: Buffer.alloc(0), text: '' },
  sourceId: { bytes: Buffer.alloc(0), text: '' },
  accountId: { bytes: Buffer.alloc(0), text: '' },
};
/** Longer texts are not kept. */
const lastTextMax = 256;

function skipMark(mark: Uint8Array): boolean {
  if (!standsAt(reading.bytes, reading.at, mark)) return false;
  reading.at += mark.length;
  return true;
}

/** The text after a mark, up to its quote; undefined if the mark is missing, or the text has an escape. */
function readText(mark: Uint8Array, last?: LastText): string | undefined {
  const { bytes, end } = reading;
  if (!standsAt(bytes, reading.at, mark)) return undefined;
  const start = reading.at + mark.length;
  if (last !== undefined && bytes[start + last.bytes.length] === quote && standsAt(bytes, start, last.bytes)) {
    reading.at = start + last.bytes.length + 1;
    return last.text;
  }
  let bits = 0;
  let at = start;
  for (; at < end && bytes[at] !== quote; at += 1) {
    if (bytes[at] === backslash) return undefined;
    bits |= bytes[at] as number;
  }
  if (at === end) return undefined;
  reading.at = at + 1;
  const text = bytes.toString(bits < firstNonAscii ? 'latin1' : 'utf8', start, at);
  if (last !== undefined && at - start <= lastTextMax) {
    last.bytes = Buffer.from(bytes.subarray(start, at));
    last.text = text;
  }
  return text;
}

/** Skips to the next comma. Returns false if nothing precedes it, or if a text does. */
function skipNumber(): boolean {
  const { bytes, at: start, end } = reading;
  let at = start;
  while (at < end && bytes[at] !== comma) {
    if (bytes[at] === quote) return false;
    at += 1;
  }
  reading.at = at;
  return at > start;
}

/** Reads the whole number after a mark; undefined if the mark or the number is missing. */
function readWhole(mark: Uint8Array): number | undefined {
  if (!skipMark(mark)) return undefined;
  const { bytes, at: start } = reading;
  let number = 0;
  let at = start;
  for (let digit = digitAt(bytes, at); digit >= 0 && digit <= 9; digit = digitAt(bytes, at)) {
    number = number * 10 + digit;
    at += 1;
  }
  reading.at = at;
  if (at === start) return undefined;
  return at - start > exactDigits ? Number(bytes.toString('latin1', start, at)) : number;
}

/** A number with up to this many digits can be added up digit by digit without rounding. */
const exactDigits = 15;

const digitAt = (bytes: Uint8Array, at: number): number => (bytes[at] ?? 0) - zero;

/** Reads an object as JSON; undefined if there is none, or if it contains another opening brace. */
function readFlatObject(): string | undefined {
  const { bytes, at: start, end } = reading;
  if (bytes[start] !== openBrace) return undefined;
  let at = start + 1;
  while (at < end && bytes[at] !== closeBrace && bytes[at] !== openBrace) at += 1;
  if (bytes[at] !== closeBrace) return undefined;
  reading.at = at + 1;
  return bytes.toString('utf8', start, at + 1);
}

const { quote, comma, backslash, openBrace, closeBrace } = ascii;
const [zero, firstNonAscii] = [0x30, 0x80];

/** Start of `"event":` in a line that begins at `start` and whose head could be read. */
export function eventPlace(start: number, { visitorId }: EventHead): number {
  return start + headMarks.visitorId.length + Buffer.byteLength(visitorId) + '",'.length;
}

export function headOf({ event, visitor }: ResolvedEvent): EventHead {
  return {
    id: event.id,
    name: event.event,
    visitorId: visitor.id,
    sourceId: event.source_id,
    receivedAtMs: event.received_at,
    isTest: event.test,
    trace: event.trace,
    integrations: event.integrations === undefined ? undefined : JSON.stringify(event.integrations),
    consent: event.consent === undefined ? undefined : JSON.stringify(event.consent),
  };
}

/** Reads a frame of resolved events. Throws FrameError for a version or line that this build does not know. */
export function decodeResolved(bytes: Uint8Array): ResolvedEvent[] {
  const lines = frameLines(openFrame(bytes));
  return lines.map((line) => parseAmong(line, lines));
}

/** The events of a frame that can be read. */
export function resolvedEvents(bytes: Uint8Array): ResolvedEvent[] {
  return [...readResolvedEvents(bytes)].map(({ event }) => event);
}

/**
 * The events of a frame that can be read, each with the index and length of its line. Each is parsed when the iterator
 * reaches it.
 */
export function* readResolvedEvents(
  bytes: Uint8Array,
): Generator<{ readonly event: ResolvedEvent; readonly line: number; readonly characters: number }, void, undefined> {
  const opened = openIfReadable(bytes);
  const lines = opened === undefined ? [] : textLines(opened);
  for (const [index, line] of lines.entries()) {
    let event: ResolvedEvent | undefined;
    try {
      event = parseAmong(line, lines);
    } catch {
      continue;
    }
    yield { event, line: index, characters: line.length };
  }
}

/** The number of events in a frame; a frame that cannot be opened counts as one event. */
export function countResolved(bytes: Uint8Array): number {
  const opened = openIfReadable(bytes);
  return opened === undefined ? 1 : countLines(opened);
}

/** The lines of a frame as bytes; undefined if the frame cannot be opened. */
export const openIfReadable = (bytes: Uint8Array): Buffer | undefined => unlessUnreadable(() => openFrame(bytes));

function unlessUnreadable<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof FrameError) return undefined;
    throw error;
  }
}

const parseAmong = (line: string, lines: readonly string[]): ResolvedEvent =>
  parseResolved(
    withVisitor(
      line,
      visitorElsewhere(line, (index) => lines[index]),
    ),
  );

/** Reads a line that contains its visitor. Throws FrameError for a version or line that this build does not know. */
export function parseResolved(line: string): ResolvedEvent {
  const value = parseLine(line, undefined, parseExact);
  if (!isJsonObject(value)) throw new FrameError('reading a resolved frame: a line is no object');
  const { v, event, visitor } = value;
  if (v !== 1) throw new FrameError(`reading a resolved frame: ${refusedVersion(v, 1)}`);
  if (!isJsonObject(event) || !isJsonObject(visitor)) {
    throw new FrameError('reading a resolved frame: a line lacks its event or its visitor');
  }
  return { v, event: event as ResolvedEvent['event'], visitor: visitor as ResolvedVisitor };
}

/** A line's reference to a visitor is within this many bytes at its end. */
const tailBytes = 32;

/** The length in characters of the visitor that a line refers to; 0 for a line that contains its visitor. */
export function visitorCharactersElsewhere(bytes: Buffer, start: number, end: number): number {
  const tail = bytes.toString('latin1', Math.max(start, end - tailBytes), end);
  if (!tail.endsWith(referenceEnd)) return 0;
  return Number(reference.exec(tail.slice(tail.lastIndexOf('[')))?.[2] ?? 0);
}
