import { keyOf } from '../../json/json-writer.ts';
import type { JsonWriter } from '../../json/json-writer.ts';
import { NameTable } from '../../json/name-table.ts';
import { textCharactersMax } from '../../payload/payload-fields.ts';
import { readTime } from './message-time.ts';
import type { PlainMessage } from './plain-batch.ts';
import { writePage } from './plain-page.ts';
import { addTime, addValue, findMembers, isGiven, isObjectAt, isPlainText, none, placeRow } from './plain-writing.ts';
import { contextNames } from './posthog-names.ts';
import type { PlainSource } from './translation.ts';

const places = { event: 0, distinct_id: 1, uuid: 2, timestamp: 3, sent_at: 4, properties: 5, $set: 6 } as const;
const messageMembers = new NameTable(Object.entries(places));
// One message is written at a time.
const found = new Int32Array(Object.keys(places).length);

const comma = 0x2c;
const dollar = 0x24;
const key = {
  event: keyOf('event'),
  externalId: keyOf('externalId'),
  eventProperties: keyOf('eventProperties'),
  defaultProperties: keyOf('defaultProperties'),
};

/** How a property is written: `named` is context under a name here, `url`, `host` and `path` those of them that say which page it is. */
type Property =
  | { readonly as: 'named' | 'url' | 'host' | 'path'; readonly key: Buffer }
  | { readonly as: 'ignored' | 'unknown'; readonly key?: undefined };

const roles: Readonly<Record<string, 'url' | 'host' | 'path'>> = { current_url: 'url', host: 'host', pathname: 'path' };

/** Properties that do not simply belong to the event; those that decide whose it is need a closer look. */
const knownProperties = new NameTable<Property>([
  ...[...contextNames].map(([name, own]) => [name, { as: roles[own] ?? 'named', key: keyOf(own) }] as const),
  ...['token', 'distinct_id'].map((name) => [name, { as: 'ignored' }] as const),
  ...['$set', '$ip', '$raw_user_agent', '$anon_distinct_id', '$device_id', 'alias'].map(
    (name) => [name, { as: 'unknown' }] as const,
  ),
]);

/** Writes an event of PostHog's as the event that it is translated into; see `WritePlain`. */
export function writePlainCapture(message: PlainMessage, source: PlainSource, out: JsonWriter): boolean {
  const { bytes, index, body } = source;
  const at = findMembers(source, message, messageMembers, found);
  if (at === undefined) return false;
  const event = at[places.event] as number;
  const distinctId = at[places.distinct_id] as number;
  const uuid = at[places.uuid] as number;
  if (event === none || distinctId === none || uuid === none || isGiven(source, at[places.$set] as number))
    return false;
  // What begins with a dollar may be another kind of call, or has another name here.
  if (!isPlainText(source, event, textCharactersMax.event) || bytes[index.valueStart(event) + 1] === dollar)
    return false;
  if (!isPlainText(source, distinctId, textCharactersMax.externalId)) return false;
  if (!isPlainText(source, uuid, textCharactersMax.distinctId)) return false;
  out.openObject();
  addValue(source, event, key.event, out);
  addValue(source, distinctId, key.externalId, out);
  const isSentAtSaid = body['sent_at'] !== undefined && body['sent_at'] !== null;
  const sentAt = isSentAtSaid ? none : (at[places.sent_at] as number);
  if (!addTime(source, at[places.timestamp] as number, sentAt, readTime(body['sent_at']), out)) return false;
  const properties = at[places.properties] as number;
  const own = isObjectAt(source, properties) ? { first: properties + 1, last: index.next(properties) } : noProperties;
  if (!addProperties(source, own, out)) return false;
  out.closeObject();
  placeRow(source, message, uuid, distinctId);
  return true;
}

/** The members of an object, by their numbers. */
type Members = { readonly first: number; readonly last: number };
const noProperties: Members = { first: 0, last: 0 };

// One message is written at a time.
const contextMembers = new Int32Array(contextNames.size);

/** Writes the event's own properties, those that stand beside each other in one piece, and behind them its context. */
function addProperties(source: PlainSource, { first, last }: Members, out: JsonWriter): boolean {
  const { bytes, index } = source;
  let context = 0;
  let start = none;
  let end = none;
  out.add(key.eventProperties);
  out.openObject();
  for (let member = first; member < last; member = index.next(member)) {
    const known = knownProperties.find(bytes, index.keyStart(member), index.keyEnd(member));
    if (known === undefined) {
      if (start === none) start = index.keyStart(member) - 1;
      end = index.valueEnd(member);
      continue;
    }
    if (start !== none) addPiece(bytes, start, end, out);
    start = none;
    if (known.as === 'ignored') continue;
    // More than there are names: one comes twice.
    if (known.as === 'unknown' || context === contextMembers.length) return false;
    contextMembers[context] = member;
    context += 1;
  }
  if (start !== none) addPiece(bytes, start, end, out);
  out.closeObject();
  out.byte(comma);
  return addContext(source, contextMembers.subarray(0, context), out);
}

function addPiece(bytes: Buffer, start: number, end: number, out: JsonWriter): void {
  out.copy(bytes, start, end);
  out.byte(comma);
}

function addContext(source: PlainSource, members: Int32Array, out: JsonWriter): boolean {
  const { bytes, index } = source;
  let url = none;
  let host = false;
  let path = false;
  out.add(key.defaultProperties);
  out.openObject();
  for (let i = 0; i < members.length; i += 1) {
    const member = members[i] as number;
    const known = knownProperties.find(bytes, index.keyStart(member), index.keyEnd(member));
    // What is not said may follow from what is.
    if (known?.key === undefined || (known.as !== 'named' && !isPlainText(source, member, Infinity))) return false;
    if (known.as === 'url') url = member;
    host ||= known.as === 'host';
    path ||= known.as === 'path';
    addValue(source, member, known.key, out);
  }
  if (url !== none) {
    const address = { start: index.valueStart(url) + 1, end: index.valueEnd(url) - 1 };
    if (!writePage(out, bytes, address, { host, path })) return false;
  }
  out.closeObject();
  return true;
}
