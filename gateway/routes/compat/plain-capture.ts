import { keyOf } from '../../../shared/json/json-writer.ts';
import type { JsonWriter } from '../../../shared/json/json-writer.ts';
import { NameTable } from '../../../shared/json/name-table.ts';
import { textCharactersMax } from '../../../shared/contracts/ingest/payload-fields.ts';
import { readTime } from './message-time.ts';
import type { PlainMessage } from './plain-batch.ts';
import { writePage } from './plain-page.ts';
import {
  LastMessage,
  MessageMembers,
  addTime,
  addValue,
  beginEvent,
  isGiven,
  isIdentifier,
  isObjectAt,
  isPlainText,
  none,
} from './plain-writing.ts';
import { fromPosthog as contextNames } from '../../../shared/contracts/events/posthog-names.ts';
import type { PlainSource } from './translation.ts';

const places = {
  event: 0,
  distinct_id: 1,
  uuid: 2,
  timestamp: 3,
  sent_at: 4,
  properties: 5,
  $set: 6,
  offset: 7,
} as const;
const messageMembers = new MessageMembers(places);

const comma = 0x2c;
const dollar = 0x24;
const key = {
  event: keyOf('event'),
  externalId: keyOf('externalId'),
  eventProperties: keyOf('eventProperties'),
  defaultProperties: keyOf('defaultProperties'),
};

/**
 * How a property is written: `named` as context under our name; `url`, `host` and `path` likewise, but these also
 * identify the page.
 */
type NamedProperty = { readonly as: 'named' | 'url' | 'host' | 'path'; readonly key: Buffer };
type Property = NamedProperty | { readonly as: 'ignored' | 'unknown'; readonly key?: undefined };

const roles: Readonly<Record<string, 'url' | 'host' | 'path'>> = { current_url: 'url', host: 'host', pathname: 'path' };

/** Properties that are not copied unchanged. An event is parsed if it has properties that decide its visitor. */
const knownProperties = new NameTable<Property>([
  ...[...contextNames].map(([name, own]) => [name, { as: roles[own] ?? 'named', key: keyOf(own) }] as const),
  ...['token', '$token', 'distinct_id'].map((name) => [name, { as: 'ignored' }] as const),
  ...['$set', '$ip', '$raw_user_agent', '$anon_distinct_id', '$device_id', '$is_identified', 'alias', 'userHash'].map(
    (name) => [name, { as: 'unknown' }] as const,
  ),
]);

/** Writes the translation of a PostHog event; see `WritePlain`. */
export function writePlainCapture(message: PlainMessage, source: PlainSource, out: JsonWriter): boolean {
  const { bytes, index, body, arrival } = source;
  const at = messageMembers.find(source, message);
  if (at === undefined) return false;
  const event = at[places.event] as number;
  const distinctId = at[places.distinct_id] as number;
  const uuid = at[places.uuid] as number;
  if (event === none || distinctId === none || uuid === none) return false;
  if (isGiven(source, at[places.$set] as number) || isGiven(source, at[places.offset] as number)) return false;
  // An event name with a dollar may be another kind of call, or has another name here.
  if (!isPlainText(source, event, textCharactersMax.event) || bytes[index.valueStart(event) + 1] === dollar)
    return false;
  if (!isIdentifier(source, distinctId)) return false;
  if (!isPlainText(source, uuid, textCharactersMax.distinctId)) return false;
  beginEvent(source, message, { id: uuid, own: distinctId }, out);
  addValue(source, event, key.event, out);
  addValue(source, distinctId, key.externalId, out);
  const isSentAtSaid = body['sent_at'] !== undefined && body['sent_at'] !== null;
  const sentAt = isSentAtSaid ? none : (at[places.sent_at] as number);
  if (!addTime(source, at[places.timestamp] as number, sentAt, readTime(body['sent_at']) ?? arrival.sentAtMs, out))
    return false;
  if (!findProperties(source, message, at[places.properties] as number)) return false;
  addProperties(source, out);
  if (!addContext(source, out)) return false;
  out.closeObject();
  return true;
}

/**
 * How a message's properties are written, by their indexes. `pieces`: the event's own properties, as the first and last
 * index of each run. `context`: properties that have another name here. Shared, since only one message is written at a
 * time.
 */
const layout = {
  pieces: [] as number[],
  context: [] as number[],
  /** The kind of each property in `context`. */
  as: [] as NamedProperty[],
  last: new LastMessage(),
};

/** False if the message has to be parsed. */
function findProperties(source: PlainSource, message: PlainMessage, properties: number): boolean {
  const shift = layout.last.shiftTo(source, message);
  if (shift !== undefined) {
    shiftAll(layout.pieces, shift);
    shiftAll(layout.context, shift);
  } else if (!readLayout(source, isObjectAt(source, properties) ? properties : none)) return false;
  layout.last.is(source, message);
  return true;
}

function shiftAll(members: number[], shift: number): void {
  for (let i = 0; i < members.length; i += 1) members[i] = (members[i] as number) + shift;
}

function readLayout({ bytes, index }: PlainSource, properties: number): boolean {
  const { pieces, context, as } = layout;
  pieces.length = 0;
  context.length = 0;
  as.length = 0;
  const last = properties === none ? none : index.next(properties);
  let isOpen = false;
  for (let member = properties + 1; member < last; member = index.next(member)) {
    const known = knownProperties.find(bytes, index.keyStart(member), index.keyEnd(member));
    if (known === undefined) {
      if (isOpen) pieces[pieces.length - 1] = member;
      else pieces.push(member, member);
      isOpen = true;
      continue;
    }
    isOpen = false;
    if (known.as === 'ignored') continue;
    // If there are more properties than known names, one property is a duplicate.
    if (known.key === undefined || context.length === contextNames.size) return false;
    context.push(member);
    as.push(known);
  }
  return true;
}

/** Writes the event's own properties. */
function addProperties({ index }: PlainSource, out: JsonWriter): void {
  const { pieces } = layout;
  out.add(key.eventProperties);
  out.openObject();
  for (let i = 0; i < pieces.length; i += 2) {
    out.take(index.keyStart(pieces[i] as number) - 1, index.valueEnd(pieces[i + 1] as number));
    out.byte(comma);
  }
  out.closeObject();
  out.byte(comma);
}

/** Writes the event's context; false if the message has to be parsed. */
function addContext(source: PlainSource, out: JsonWriter): boolean {
  const { bytes, index } = source;
  const { context, as } = layout;
  let url = none;
  let host = false;
  let path = false;
  out.add(key.defaultProperties);
  out.openObject();
  for (let i = 0; i < context.length; i += 1) {
    const member = context[i] as number;
    const known = as[i] as NamedProperty;
    // Which properties are derived from `url` also depends on `host` and `path`.
    if (known.as !== 'named' && !isPlainText(source, member, Infinity)) return false;
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
