import { parseExact, stringifyExact } from '../../json/exact-numbers.ts';
import type { Stretch } from '../../json/byte-writer.ts';
import { JsonFacts, ascii, isPrototypeKey, plainLeafEnd, plainStringEnd, standsAt } from '../../json/scan-json.ts';
import { isJsonObject } from '../../runtime/json.ts';
import { payloadFieldRows, resolverTextNames } from '../ingest/payload-fields.ts';
import type { ResolverReading, ResolverTextName } from '../ingest/payload-fields.ts';
import { assertId } from '../subjects.ts';
import { clickIdNames, mayHaveClick } from './click-ids.ts';
import { bodyKey } from './envelope.ts';
import type { Envelope } from './envelope.ts';
import { integrationsKey, senderKey } from './resolved-event.ts';

/**
 * A track event of which only the small members were parsed. Its objects are copied as the client's JSON, which costs a
 * fraction of parsing and writing them.
 */
export type PlainEnvelope = {
  /** The envelope's body has only the members that every track event needs, and no objects. */
  readonly envelope: Envelope;
  /** The event's properties as a JSON object; undefined if there are none. */
  readonly properties: Stretch | undefined;
  /** Members of the batch's defaultProperties, as JSON without the braces. */
  readonly batchMembers: string;
  /** Members of the body's own defaultProperties, of which none is also in the batch's; undefined if there are none. */
  readonly defaultMembers: Stretch | undefined;
  /** Size of the client's own body, in bytes. */
  readonly bodyBytes: number;
};

const { space, tab, carriageReturn, quote, comma, colon, openBracket, closeBracket, openBrace, closeBrace } = ascii;

/** A line that nests deeper is not plain. */
const depthMax = 16;
/**
 * Maximum number of keys of all open objects: each key is compared with the others of its object. A line with more is
 * not plain.
 */
const keysOpenMax = 128;
const firstNonAscii = 0x80;

/** The texts and the time that the resolver reads from a body; undefined if the body lacks them. */
type PlainBody = { [Name in ResolverTextName]: string | undefined } & { time: number | undefined };

/** Copied for each event, so that all bodies have the same members in the same order. */
const emptyBody = {
  time: undefined,
  ...Object.fromEntries(resolverTextNames.map((name) => [name, undefined])),
} as PlainBody;

/** A member of a body that the resolver reads, and how. A body with a `parsed` member is not plain. */
type BodyMember =
  | { readonly kind: 'text'; readonly name: ResolverTextName }
  | { readonly kind: Exclude<ResolverReading, 'text' | 'unread'>; readonly name: string };

const bodyMembers = payloadFieldRows
  .filter(({ resolver }) => resolver !== 'unread')
  .map(({ name, resolver }) => ({ kind: resolver, name }) as BodyMember);

const hashOf = (bytes: Uint8Array, start: number, end: number): number => {
  let hash = 0;
  for (let at = start; at < end; at += 1) hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0;
  return hash;
};
function hashOfName(name: string): number {
  const bytes = Buffer.from(name);
  return hashOf(bytes, 0, bytes.length);
}

const memberOfHash = new Map(
  bodyMembers.map((member) => [hashOfName(member.name), { member, name: Buffer.from(member.name) }]),
);

/**
 * Hashes of names in `defaultProperties` that make a line not plain: the resolver sets these members itself, or stores
 * them with the visitor.
 */
const parsedNames: ReadonlySet<number> = new Set(
  ['ip', 'user_agent', senderKey, integrationsKey, ...clickIdNames].map(hashOfName),
);
const question = 0x3f;

/** Whether a URL in the members at [start, end) may contain a click id. Most URLs have no query. */
function mayHaveClickAt(bytes: Buffer, start: number, end: number): boolean {
  let at = start;
  while (at < end && bytes[at] !== question) at += 1;
  return at < end && mayHaveClick.test(bytes.toString('latin1', at, end));
}

// State of the line that is being read: one line is read at a time, from beginning to end.

const facts = new JsonFacts();
/**
 * Hashes of the keys of open objects, outermost first. A line that repeats a key in an object is not plain: parsers
 * differ in which of the two members they use.
 */
const keysOpen = new Int32Array(keysOpenMax);
let keysCount = 0;
/** Number of open keys just before the object that was closed last. */
let keysAtClose = 0;

type Head = Omit<Envelope, 'kind' | 'id' | 'bot' | 'ctx' | 'body'> & {
  /** The batch's defaultProperties: hashes of their names, and their members as JSON. */
  readonly batchNames: ReadonlySet<number> | undefined;
  readonly batchMembers: string;
};

/** A longer start of a head is not kept for the next row of the batch, which has the same start. */
const headBytesKept = 16 * 1024;
const headKept = Buffer.alloc(headBytesKept);
let lastStart = headKept.subarray(0, 0);
let lastHead: Head | undefined;

const beforeKind = Buffer.from(',"kind":"');
const trackAndId = Buffer.from('track","id":"');
const beforeBot = Buffer.from(',"bot":');
const beforeBody = Buffer.from(bodyKey);
const no = Buffer.from('false');

/**
 * Reads the line at [start, end) of an ingest frame if its event can be copied as bytes. The result equals that of
 * parsing. Returns undefined for a line that must be parsed: one that is not a track event or not JSON, sets properties
 * of its visitor, excludes a destination, has a click id, repeats a member, or is written in an unusual way.
 */
export function readPlainEnvelope(bytes: Buffer, start: number, end: number): PlainEnvelope | undefined {
  const kindAt = headEnd(bytes, start);
  if (kindAt < 0 || kindAt >= end || lastHead === undefined) return undefined;
  const head = lastHead;
  const idStart = kindAt + beforeKind.length + trackAndId.length;
  if (!standsAt(bytes, kindAt + beforeKind.length, trackAndId)) return undefined;
  facts.reset();
  const idEnd = plainStringEnd(facts, bytes, idStart);
  if (idEnd < 0 || facts.stringEscaped) return undefined;
  let at = idEnd + 1;
  let bot: number | undefined;
  if (standsAt(bytes, at, beforeBot)) {
    const botStart = at + beforeBot.length;
    at = plainLeafEnd(facts, bytes, botStart);
    bot = at < 0 ? Number.NaN : Number(bytes.toString('latin1', botStart, at));
    if (Number.isNaN(bot)) return undefined;
  }
  if (!standsAt(bytes, at, beforeBody)) return undefined;
  return readBody(bytes, at + beforeBody.length, end, { head, id: textAt(bytes, idStart, idEnd), bot });
}

type Known = { readonly head: Head; readonly id: string; readonly bot: number | undefined };

// Large: it reads every event, and a call for each member would cost more than the scan.
function readBody(bytes: Buffer, bodyStart: number, end: number, { head, id, bot }: Known): PlainEnvelope | undefined {
  if (bytes[bodyStart] !== openBrace) return undefined;
  const body = { ...emptyBody };
  let properties: Stretch | undefined;
  let defaultMembers: Stretch | undefined;
  keysCount = 0;
  let at = skipSpace(bytes, bodyStart + 1);
  for (;;) {
    const keyAt = at;
    const valueAt = valueBehindKey(bytes, keyAt, 0);
    if (valueAt < 0) return undefined;
    const known = memberOfHash.get(keysOpen[keysCount - 1] as number);
    at = valueEnd(bytes, valueAt, 1);
    if (at < 0) return undefined;
    const first = bytes[valueAt] as number;
    if (known !== undefined && isKey(bytes, keyAt, known.name)) {
      const { member } = known;
      switch (member.kind) {
        case 'parsed':
          return undefined;
        case 'text':
          if (first !== quote) break;
          if (facts.stringEscaped) return undefined;
          body[member.name] = textAt(bytes, valueAt + 1, at - 1);
          break;
        case 'time':
          if (isNumber(first)) body.time = Number(bytes.toString('latin1', valueAt, at));
          break;
        case 'properties':
          if (first !== openBrace) break;
          if (properties !== undefined) return undefined;
          properties = { bytes, start: valueAt, end: at };
          break;
        case 'defaultProperties':
          if (first !== openBrace || keysAtClose === keysCount) break;
          for (let key = keysCount; key < keysAtClose; key += 1) {
            const name = keysOpen[key] as number;
            if (parsedNames.has(name) || head.batchNames?.has(name) === true) return undefined;
          }
          if (mayHaveClickAt(bytes, valueAt, at)) return undefined;
          defaultMembers = { bytes, start: valueAt + 1, end: at - 1 };
          break;
        case 'integrations':
          // Only false excludes a destination, and objects contain options: with either, the line must be parsed.
          if (first === openBrace && keysAtClose > keysCount) {
            const said = bytes.subarray(valueAt + 1, at);
            if (said.includes(no) || said.includes(openBrace)) return undefined;
          }
      }
    }
    at = skipSpace(bytes, at);
    if (bytes[at] === closeBrace) break;
    if (bytes[at] !== comma) return undefined;
    at = skipSpace(bytes, at + 1);
  }
  // The body is the last member of the line.
  if (at !== end - 2 || bytes[at + 1] !== closeBrace || body.event === undefined) return undefined;
  const { v, account, source, at: atMs, test, ip, ua, trace, gpc, batchMembers } = head;
  const envelope = { v, kind: 'track', id, account, source, at: atMs, test, ip, ua, trace, gpc, bot, body };
  return { envelope: envelope as Envelope, properties, batchMembers, defaultMembers, bodyBytes: end - 1 - bodyStart };
}

/**
 * Start of the kind in the head of the line at `start`; -1 if there is none. Afterwards `lastHead` is what precedes the
 * kind, or undefined if that is not plain.
 */
function headEnd(bytes: Buffer, start: number): number {
  const likely = start + lastStart.length;
  const isLikely = likely > start && standsAt(bytes, likely, beforeKind);
  if (isLikely && lastStart.compare(bytes, start, likely) === 0) return likely;
  const kindAt = bytes.indexOf(beforeKind, start);
  if (kindAt < 0) return -1;
  lastHead = readHead(bytes.toString('utf8', start, kindAt));
  const isKept = kindAt - start <= headBytesKept;
  if (isKept) bytes.copy(headKept, 0, start, kindAt);
  lastStart = headKept.subarray(0, isKept ? kindAt - start : 0);
  return kindAt;
}

/** Reads the part of the head before an event's kind; undefined if it is not plain. */
function readHead(start: string): Head | undefined {
  try {
    const value = parseExact(`${start}}`);
    if (!isJsonObject(value)) return undefined;
    const { ctx, ...head } = value;
    const { v, account, source, at } = head;
    if (v !== 1 || typeof account !== 'string' || typeof source !== 'string' || typeof at !== 'number')
      return undefined;
    assertId(account);
    const ofBatch = readBatch(ctx);
    return ofBatch && (Object.assign(head, ofBatch) as unknown as Head);
  } catch {
    return undefined;
  }
}

/**
 * The batch's fields that apply to all of its rows; undefined if there are other fields than defaultProperties, or if
 * these have reserved names or click ids.
 */
function readBatch(ctx: unknown): Pick<Head, 'batchNames' | 'batchMembers'> | undefined {
  if (ctx === undefined) return { batchNames: undefined, batchMembers: '' };
  if (!isJsonObject(ctx)) return undefined;
  const { defaultProperties = {}, ...others } = ctx;
  if (Object.keys(others).length > 0 || !isJsonObject(defaultProperties)) return undefined;
  const names = Object.keys(defaultProperties).map(hashOfName);
  if (names.some((name) => parsedNames.has(name))) return undefined;
  const members = stringifyExact(defaultProperties, defaultProperties).slice(1, -1);
  return mayHaveClick.test(members) ? undefined : { batchNames: new Set(names), batchMembers: members };
}

/** Decodes a text without escapes in a scanned line: as ASCII if everything scanned so far is ASCII. */
const textAt = (bytes: Buffer, start: number, end: number): string =>
  bytes.toString(facts.bits < firstNonAscii ? 'latin1' : 'utf8', start, end);

/** Whether a value with this first byte is a number. */
const isNumber = (first: number): boolean => first <= 0x39 && first !== quote;

/** Whether the key whose opening quote is at `at` equals `name`. */
const isKey = (bytes: Uint8Array, at: number, name: Uint8Array): boolean =>
  bytes[at + 1 + name.length] === quote && standsAt(bytes, at + 1, name);

/**
 * Start of the value of the key whose opening quote is at `at`; -1 if the key is not plain, or repeated in the object.
 */
function valueBehindKey(bytes: Uint8Array, at: number, keysFrom: number): number {
  if (bytes[at] !== quote || keysCount === keysOpenMax) return -1;
  const end = plainStringEnd(facts, bytes, at + 1);
  if (end < 0 || facts.stringEscaped || isPrototypeKey(bytes, at + 1, end)) return -1;
  const hash = hashOf(bytes, at + 1, end);
  for (let key = keysFrom; key < keysCount; key += 1) if (keysOpen[key] === hash) return -1;
  keysOpen[keysCount] = hash;
  keysCount += 1;
  const colonAt = skipSpace(bytes, end + 1);
  return bytes[colonAt] === colon ? skipSpace(bytes, colonAt + 1) : -1;
}

/** The index after the value at `at`; -1 if the value is not plain. */
function valueEnd(bytes: Uint8Array, at: number, depth: number): number {
  const first = bytes[at];
  if (first !== openBrace && first !== openBracket) return plainLeafEnd(facts, bytes, at);
  if (depth === depthMax) return -1;
  return first === openBrace ? objectEnd(bytes, at, depth) : arrayEnd(bytes, at, depth);
}

function objectEnd(bytes: Uint8Array, start: number, depth: number): number {
  const keysFrom = keysCount;
  let at = skipSpace(bytes, start + 1);
  while (bytes[at] !== closeBrace) {
    const valueAt = valueBehindKey(bytes, at, keysFrom);
    at = valueAt < 0 ? -1 : memberEnd(bytes, valueEnd(bytes, valueAt, depth + 1), closeBrace);
    if (at < 0) return -1;
  }
  keysAtClose = keysCount;
  keysCount = keysFrom;
  return at + 1;
}

function arrayEnd(bytes: Uint8Array, start: number, depth: number): number {
  let at = skipSpace(bytes, start + 1);
  while (bytes[at] !== closeBracket) {
    at = memberEnd(bytes, valueEnd(bytes, at, depth + 1), closeBracket);
    if (at < 0) return -1;
  }
  return at + 1;
}

/** Start of the next member after a value that ends at `end`, or of the closing bracket; -1 if there is neither. */
function memberEnd(bytes: Uint8Array, end: number, close: number): number {
  if (end < 0) return -1;
  const at = skipSpace(bytes, end);
  if (bytes[at] === close) return at;
  if (bytes[at] !== comma) return -1;
  const next = skipSpace(bytes, at + 1);
  // A comma after the last member is not JSON.
  return bytes[next] === close ? -1 : next;
}

/** The index of the next character that is not a space. A line break is not a space: it ends the line. */
function skipSpace(bytes: Uint8Array, start: number): number {
  let at = start;
  while (bytes[at] === space || bytes[at] === tab || bytes[at] === carriageReturn) at += 1;
  return at;
}
