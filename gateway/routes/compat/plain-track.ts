import { keyOf } from '../../../shared/json/json-writer.ts';
import type { JsonWriter } from '../../../shared/json/json-writer.ts';
import { NameTable } from '../../../shared/json/name-table.ts';
import { standsAt } from '../../../shared/json/scan-json.ts';
import { textCharactersMax } from '../../../shared/contracts/ingest/payload-fields.ts';
import { readTime } from './message-time.ts';
import type { PlainMessage } from './plain-batch.ts';
import { mayTellOrigin, writePage } from './plain-page.ts';
import {
  addMember,
  addTime,
  addValue,
  beginEvent,
  MessageMembers,
  isGiven,
  isObjectAt,
  isPlainId,
  isPlainText,
  none,
} from './plain-writing.ts';
import { contextPrefixes, contextTextCharactersMax, prefixed } from './spec-context.ts';
import type { PlainSource } from './translation.ts';

const places = {
  type: 0,
  event: 1,
  userId: 2,
  anonymousId: 3,
  messageId: 4,
  originalTimestamp: 5,
  timestamp: 6,
  sentAt: 7,
  properties: 8,
  context: 9,
  integrations: 10,
  channel: 11,
  traits: 12,
  receivedAt: 13,
} as const;

const messageMembers = new MessageMembers(places);

const track = Buffer.from('"track"');
const comma = 0x2c;
const quote = 0x22;
const openBrace = 0x7b;
const key = {
  event: keyOf('event'),
  userId: keyOf('userId'),
  externalId: keyOf('externalId'),
  eventProperties: keyOf('eventProperties'),
  defaultProperties: keyOf('defaultProperties'),
  identityContext: keyOf('identityContext'),
  integrations: keyOf('integrations'),
  channel: keyOf('channel'),
  ip: keyOf('ip'),
  userAgent: keyOf('userAgent'),
  sid: keyOf('sid'),
  currentUrl: keyOf('current_url'),
  pathname: keyOf('pathname'),
};

/** Writes the translation of a `track` call of the event specification; see `WritePlain`. */
export function writePlainTrack(message: PlainMessage, source: PlainSource, out: JsonWriter): boolean {
  const { body } = source;
  // Messages are parsed if the batch has default values for them.
  if (isSaid(body['context']) || isSaid(body['integrations']) || isSaid(body['originalTimestamp'])) return false;
  const at = messageMembers.find(source, message);
  if (at === undefined || !isTrack(source, at[places.type] as number)) return false;
  if (hasMembers(source, at[places.traits] as number)) return false;
  if (isGiven(source, at[places.receivedAt] as number)) return false;
  const event = at[places.event] as number;
  const userId = at[places.userId] as number;
  const anonymousId = at[places.anonymousId] as number;
  const messageId = at[places.messageId] as number;
  if (event === none || !isEventName(source, event)) return false;
  if (messageId === none || !isPlainText(source, messageId, textCharactersMax.distinctId)) return false;
  if (!isPlainId(source, userId) || !isPlainId(source, anonymousId)) return false;
  const own = isGiven(source, userId) ? userId : messageId;
  beginEvent(source, message, { id: messageId, own: isGiven(source, anonymousId) ? anonymousId : own }, out);
  addValue(source, event, key.event, out);
  if (isGiven(source, anonymousId)) addValue(source, anonymousId, key.userId, out);
  if (isGiven(source, userId)) addValue(source, userId, key.externalId, out);
  const original = at[places.originalTimestamp] as number;
  const time = isGiven(source, original) ? original : (at[places.timestamp] as number);
  if (!addTime(source, time, at[places.sentAt] as number, readTime(body['sentAt']), out)) return false;
  const properties = at[places.properties] as number;
  if (isObjectAt(source, properties)) addValue(source, properties, key.eventProperties, out);
  else addNoProperties(out);
  const integrations = at[places.integrations] as number;
  if (isGiven(source, integrations)) addValue(source, integrations, key.integrations, out);
  if (!addContext(source, at[places.context] as number, at[places.channel] as number, out)) return false;
  out.closeObject();
  return true;
}

function addNoProperties(out: JsonWriter): void {
  out.add(key.eventProperties);
  out.openObject();
  out.closeObject();
  out.byte(comma);
}

const isSaid = (value: unknown): boolean => value !== undefined && value !== null;

function isTrack({ bytes, index }: PlainSource, member: number): boolean {
  const start = member === none ? none : index.valueStart(member);
  return start >= 0 && index.valueEnd(member) - start === track.length && standsAt(bytes, start, track);
}

/**
 * Whether a member is a text short enough for an event name. Its bytes are counted: it has at most as many characters.
 */
function isEventName({ bytes, index }: PlainSource, member: number): boolean {
  const length = index.valueEnd(member) - index.valueStart(member) - 2;
  return bytes[index.valueStart(member)] === quote && length > 0 && length <= textCharactersMax.event;
}

/** How a member of a context is written. */
type ContextMember =
  | { readonly kind: 'prefixed'; readonly names: PrefixedKeys }
  | { readonly kind: 'page' | 'ip' | 'userAgent' | 'session' | 'own' | 'traits' };

/** Keys for the members of one object of a context, cached because their names are few. */
class PrefixedKeys {
  readonly #prefix: string;
  readonly #known = new NameTable<Buffer>();
  #remembered = 0;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  of(bytes: Buffer, start: number, end: number): Buffer {
    const known = this.#known.find(bytes, start, end);
    if (known !== undefined) return known;
    const made = keyOf(prefixed(this.#prefix, bytes.toString('utf8', start, end)));
    if (this.#remembered < rememberedMax && end - start <= rememberedBytesMax) {
      this.#remembered += 1;
      this.#known.add(Buffer.from(bytes.subarray(start, end)), made);
    }
    return made;
  }
}

const rememberedMax = 100;
const rememberedBytesMax = 64;

/** Whether a member is an object that is not empty. */
const hasMembers = (source: PlainSource, member: number): boolean =>
  isObjectAt(source, member) && source.index.next(member) > member + 1;

/**
 * Members of a context whose written names cannot collide with the names of other members. A context with any
 * member that is not listed here is parsed.
 */
const contextMembers = new NameTable<ContextMember>([
  ...Object.entries(contextPrefixes).map(
    ([name, prefix]) => [name, { kind: 'prefixed', names: new PrefixedKeys(prefix) }] as const,
  ),
  ...['locale', 'timezone', 'userAgentData', 'direct', 'active', 'sessionStart', 'instanceId'].map(
    (name) => [name, { kind: 'own' }] as const,
  ),
  ['page', { kind: 'page' }],
  ['ip', { kind: 'ip' }],
  ['userAgent', { kind: 'userAgent' }],
  ['sessionId', { kind: 'session' }],
  ['traits', { kind: 'traits' }],
]);

/** The same for the page of a context, with the keys under which its members are written. */
const pageMembers = new NameTable<PageMember>([
  ['url', { as: 'url', key: key.currentUrl }],
  ['path', { as: 'path', key: key.pathname }],
  ['search', { as: 'search', key: keyOf('search') }],
  ...['referrer', 'title', 'tab_url', 'referring_domain', 'initial_referrer', 'initial_referring_domain'].map(
    (name) => [name, { as: 'other', key: keyOf(name) }] as const,
  ),
]);

type PageMember = { readonly as: 'url' | 'path' | 'search' | 'other'; readonly key: Buffer };

/** Writes an event's context; copies the written bytes if an earlier event had the same context. */
function addContext(source: PlainSource, context: number, channel: number, out: JsonWriter): boolean {
  const { index, context: written } = source;
  const object = isObjectAt(source, context) ? index.original(context) : none;
  out.add(key.defaultProperties);
  out.openObject();
  if (channel !== none) addValue(source, channel, key.channel, out);
  if (object !== none && object === written.member) {
    out.take(written.start, written.end);
    return true;
  }
  const start = out.length;
  if (!addObject(source, object, out)) return false;
  // If nothing was added, the text ends with the comma after the channel.
  if (out.length > start && out.bytes[start] === quote)
    Object.assign(written, { member: object, start, end: out.length });
  return true;
}

/** Writes the members of a context, and the end user's address and User-Agent after them. */
function addObject(source: PlainSource, object: number, out: JsonWriter): boolean {
  const { bytes, index } = source;
  let ip = none;
  let userAgent = none;
  const last = object === none ? none : index.next(object);
  for (let member = object + 1; member < last; member = index.next(member)) {
    if (!isGiven(source, member)) continue;
    const known = contextMembers.find(bytes, index.keyStart(member), index.keyEnd(member));
    if (known === undefined) return false;
    switch (known.kind) {
      case 'prefixed':
        if (!addPrefixed(source, member, known.names, out)) return false;
        break;
      case 'page':
        if (!addPage(source, member, out)) return false;
        break;
      case 'ip':
        ip = member;
        break;
      case 'userAgent':
        userAgent = member;
        break;
      case 'session':
        if (!isPlainText(source, member, Infinity)) return false;
        addValue(source, member, key.sid, out);
        break;
      case 'own':
        addMember(source, member, out);
        break;
      case 'traits':
        // Traits become properties of the visitor with other names and forms, so such a message is parsed.
        if (hasMembers(source, member)) return false;
    }
  }
  out.closeObject();
  return addNetwork(source, ip, userAgent, out);
}

function addNetwork(source: PlainSource, ip: number, userAgent: number, out: JsonWriter): boolean {
  if (ip === none && userAgent === none) return true;
  for (const member of [ip, userAgent]) {
    if (member !== none && !isPlainText(source, member, contextTextCharactersMax)) return false;
  }
  out.byte(comma);
  out.add(key.identityContext);
  out.openObject();
  if (ip !== none) addValue(source, ip, key.ip, out);
  if (userAgent !== none) addValue(source, userAgent, key.userAgent, out);
  out.closeObject();
  return true;
}

function addPrefixed(source: PlainSource, object: number, names: PrefixedKeys, out: JsonWriter): boolean {
  const { bytes, index } = source;
  if (bytes[index.valueStart(object)] !== openBrace) return false;
  const last = index.next(object);
  for (let member = object + 1; member < last; member = index.next(member)) {
    if (!isGiven(source, member)) continue;
    addValue(source, member, names.of(bytes, index.keyStart(member), index.keyEnd(member)), out);
  }
  return true;
}

function addPage(source: PlainSource, page: number, out: JsonWriter): boolean {
  const { bytes, index } = source;
  if (bytes[index.valueStart(page)] !== openBrace) return false;
  let url = none;
  let path = false;
  const last = index.next(page);
  for (let member = page + 1; member < last; member = index.next(member)) {
    if (!isGiven(source, member)) continue;
    const known = pageMembers.find(bytes, index.keyStart(member), index.keyEnd(member));
    if (known === undefined) return false;
    if (known.as === 'search' && mayTellOrigin(bytes, index.valueStart(member), index.valueEnd(member))) return false;
    if (known.as === 'url') url = member;
    if (known.as === 'path') path = true;
    addValue(source, member, known.key, out);
  }
  if (url === none) return true;
  if (!isPlainText(source, url, Infinity)) return false;
  const address = { start: index.valueStart(url) + 1, end: index.valueEnd(url) - 1 };
  return writePage(out, bytes, address, { host: false, path });
}
