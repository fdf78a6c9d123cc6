import type { ResolvedEvent } from '../../contracts/events/resolved-event.ts';
import { mayHoldExact, mergeMembers, parseExact, stringifyExact } from '../../json/exact-numbers.ts';
import type { EventHead } from '../../contracts/events/resolved-event.ts';
import { headOf, integrationsKey, senderKey } from '../../contracts/events/resolved-event.ts';
import type { ResolvedVisitor } from '../../contracts/events/resolved-event.ts';
import { clickCookies, clickIdsProperty } from '../../contracts/events/click-ids.ts';
import { aliasEvent } from '../../contracts/events/envelope.ts';
import { asBuffer } from '../../contracts/events/frame.ts';
import { ByteWriter } from '../../json/byte-writer.ts';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { UnfitEventError } from './destination.ts';
import type { OutboundEvent } from './destination.ts';
import { withoutMembers } from './json.ts';

/** The event's head. Parses the event only if the head is not available. */
export function outboundHead(event: OutboundEvent): EventHead {
  return event.head ?? headOf(event.resolved);
}

/** The event name to send: the mapping's if one matches, else the event's own. */
export function outboundName(event: OutboundEvent): string {
  return event.mapped?.eventName ?? outboundHead(event).name;
}

/** The event of an identify call. */
export const identifyEvent = '$identify';

/** Whether an event is an identify, by its mapped name or its own. */
export function isIdentify(event: OutboundEvent): boolean {
  return outboundName(event) === identifyEvent;
}

/** The event of a screen call, which apps send. */
export const screenEvent = 'Screen Viewed';

/** The event of a page call. */
export const pageEvent = 'Page Viewed';

/** A group that a visitor belongs to. */
export type Group = { readonly type: string; readonly id: string; readonly traits: JsonObject };

const ownOfGroup: ReadonlySet<string> = new Set(['group_id', 'group_type', '$group_type', '$group_key', '$group_set']);

/**
 * The group in a group event of a library that follows Segment's or PostHog's specification.
 * `standardType` is the group type if the event has none.
 */
export function groupIn(properties: JsonObject, standardType: string): Group | undefined {
  const id = properties['$group_key'] ?? properties['group_id'];
  if (typeof id !== 'string' && typeof id !== 'number') return undefined;
  const type = textOf(properties['$group_type']) ?? textOf(properties['group_type']) ?? standardType;
  const set = properties['$group_set'];
  return {
    type,
    id: String(id),
    traits: { ...withoutMembers(properties, ownOfGroup), ...(isJsonObject(set) ? set : {}) },
  };
}

/** The id of the visitor's latest group. Undefined if a mapping matches: only the mapped payload counts then. */
export function groupOfVisitor(event: OutboundEvent): string | undefined {
  if (mappedProperties(event) !== undefined) return undefined;
  const id = event.resolved.visitor.custom_properties['group_id'];
  return typeof id === 'number' ? String(id) : textOf(id);
}

/** The event of a group call. */
export const groupEvent = '$group';

export function isGroup(event: OutboundEvent): boolean {
  return outboundName(event) === groupEvent;
}

/** Whether an event is an alias, which joins two ids. */
export function isAlias(event: OutboundEvent): boolean {
  return outboundName(event) === aliasEvent;
}

/**
 * Whether an event is a group or alias event, not an action of the visitor. Kinds skip such events if
 * their platform has no matching call.
 */
export function isAboutIds(event: OutboundEvent): boolean {
  return isGroup(event) || isAlias(event);
}

/**
 * An event as a kind reads it: with the mapping's name and properties if a mapping matches, else with
 * its own.
 */
export type SentEvent = {
  readonly id: string;
  readonly name: string;
  /** Whether a mapping renamed the event. */
  readonly isRenamed: boolean;
  /** Event time, in whole ms since the epoch. */
  readonly timeMs: number;
  readonly properties: JsonObject;
  readonly context: JsonObject;
  readonly visitor: ResolvedVisitor;
  /**
   * The deduplication id, shared with a browser pixel: the value of the property that the destination names or, if it
   * names none, of the first property found in `deduplicationNames`. Without such a value, the event id.
   */
  readonly deduplicationId: string;
  /** ISO 4217 currency for amounts without one; undefined if the destination has no default. */
  readonly defaultCurrency: string | undefined;
};

/** Settings that control how events are read. */
export type ReadingSettings = {
  /** The property with the deduplication id; by default the first property found in `deduplicationNames`. */
  readonly deduplicationProperty?: string | undefined;
  readonly defaultCurrency?: string | undefined;
};

export function sentEvent({ resolved, mapped }: OutboundEvent, settings: ReadingSettings = {}): SentEvent {
  const { event, visitor } = resolved;
  const properties = mapped?.properties ?? event.event_properties;
  return {
    id: event.id,
    deduplicationId: deduplicationIdIn(properties, settings.deduplicationProperty) ?? event.id,
    defaultCurrency: settings.defaultCurrency,
    name: mapped?.eventName ?? event.event,
    isRenamed: mapped !== undefined && mapped.eventName !== event.event,
    // Clients may send a fraction, which many platforms refuse.
    timeMs: Math.floor(event.time),
    properties,
    context: withoutSender(event.context),
    visitor,
  };
}

/** Property names that libraries use for the deduplication id, most common first. */
const deduplicationNames = ['event_id', 'eventId', 'eventID', 'client_dedup_id', 'deduplication_id'];
const deduplicationCharactersMax = 256;

function deduplicationIdIn(properties: JsonObject, own: string | undefined): string | undefined {
  for (const name of own === undefined ? deduplicationNames : [own]) {
    const value = properties[name];
    const text = typeof value === 'number' ? String(value) : textOf(value)?.trim();
    if (text !== undefined && text !== '' && text.length <= deduplicationCharactersMax) return text;
  }
  return undefined;
}

/** A text property; undefined if it is missing, empty or not text. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A finite number, also parsed from text; undefined for anything else. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  const text = textOf(value)?.trim();
  if (text === undefined || !/^-?\d+(\.\d+)?$/.test(text)) return undefined;
  return Number(text);
}

/**
 * The properties that a mapping produced; undefined if no mapping matches, or if the mapping only
 * renames the event and leaves its properties unchanged.
 */
export function mappedProperties({ resolved, mapped }: OutboundEvent): JsonObject | undefined {
  return mapped?.properties === resolved.event.event_properties ? undefined : mapped?.properties;
}

/** The event's properties; if a mapping matches, the mapped properties without `visitor`. */
export function propertiesOf(event: OutboundEvent): JsonObject {
  const mapped = mappedProperties(event);
  if (mapped === undefined) return event.resolved.event.event_properties;
  return isJsonObject(mapped['visitor']) ? withoutMembers(mapped, ofVisitor) : mapped;
}

/**
 * The traits of an identify: the visitor's well-known fields and custom properties together. If a
 * mapping matches, only the mapped payload counts.
 */
export function traitsOf(event: OutboundEvent): JsonObject {
  const mapped = mappedProperties(event);
  if (mapped === undefined) return flat(withoutMembers(event.resolved.visitor, notTold));
  const visitor = mapped['visitor'];
  return { ...propertiesOf(event), ...(isJsonObject(visitor) ? flat(visitor) : {}) };
}

/**
 * The traits that the identify itself carries, without earlier traits, for platforms that merge profiles. If a mapping
 * matches, the whole mapped payload counts instead.
 */
export function saidTraitsOf(event: OutboundEvent): JsonObject {
  return mappedProperties(event) === undefined ? flat(event.resolved.event.event_properties) : traitsOf(event);
}

/**
 * The context to send as properties, without device and browser ids: these go into the platform's
 * own fields. Empty if a mapping matches: only the mapped payload counts then.
 */
export function contextOf(event: OutboundEvent): JsonObject {
  return mappedProperties(event) === undefined ? withoutMembers(event.resolved.event.context, noProperties) : {};
}

/** The context without the data of the sending server, because this data does not describe the visitor. */
function withoutSender(context: JsonObject): JsonObject {
  return senderKey in context ? withoutMembers(context, ofSender) : context;
}

const ofSender: ReadonlySet<string> = new Set([senderKey]);
const noProperties: ReadonlySet<string> = new Set([
  senderKey,
  integrationsKey,
  // RudderStack's list of ids for other platforms: see `senderId`.
  'externalId',
  ...clickCookies,
  'device_id',
  'device_token',
  'device_advertising_id',
  'idfa',
  'idfv',
  'gaid',
  'aaid',
]);
const ofVisitor: ReadonlySet<string> = new Set(['visitor']);
/** Members of a visitor that are not sent as traits, because requests have fields of their own for them. */
const notTold: ReadonlySet<string> = new Set(['id', 'external_id', 'consent', 'ip', clickIdsProperty]);
const ownProperties: ReadonlySet<string> = new Set(['custom_properties']);

function flat(visitor: JsonObject): JsonObject {
  const own = visitor['custom_properties'];
  return { ...withoutMembers(visitor, ownProperties), ...(isJsonObject(own) ? own : {}) };
}

/**
 * The canonical event and its visitor as JSON text, with the mapping's name and properties if a mapping
 * matches.
 */
export function eventJson(outbound: OutboundEvent): string {
  const { json, mapped, change } = outbound;
  if (mapped === undefined && change === undefined && json !== undefined) return json;
  const { event, visitor } = mappedEvent(outbound);
  return stringifyExact({ event, visitor }, event, visitor);
}

/**
 * The canonical event and its visitor, with the mapping's name and properties if a mapping matches. A member of the
 * mapped `visitor` replaces the stored one; null withholds it. Numbers keep their texts, see `parseExact`, if the stored
 * text is available.
 */
export function mappedEvent(outbound: OutboundEvent): Pick<ResolvedEvent, 'event' | 'visitor'> {
  const { resolved, json, mapped, change } = outbound;
  const exact = json !== undefined && mayHoldExact(json) ? (parseExact(json) as typeof resolved) : undefined;
  const { event, visitor } = exact ?? resolved;
  if (mapped === undefined && (exact === undefined || change === undefined)) return { event, visitor };
  const made = exact && (mapped === undefined ? event.event_properties : mapped.remake?.(exact));
  const properties = made === undefined ? (mapped?.properties ?? event.event_properties) : (change?.(made) ?? made);
  const sent = mergeMembers(event, { event: mapped?.eventName ?? event.event, event_properties: properties });
  const own = mappedProperties(outbound) === undefined ? undefined : properties['visitor'];
  return {
    event: sent as typeof event,
    visitor: isJsonObject(own) ? (overridden(visitor, own) as typeof visitor) : visitor,
  };
}

function overridden(members: JsonObject, own: JsonObject): JsonObject {
  const changed = mergeMembers(members, own);
  for (const [name, value] of Object.entries(own)) {
    const before = members[name];
    if (value === null) delete changed[name];
    else if (isJsonObject(before) && isJsonObject(value)) changed[name] = overridden(before, value);
  }
  return changed;
}

/**
 * The canonical events and their visitors as a JSON array of bytes, without creating strings.
 * Undefined if an event cannot be sent as its stored bytes.
 */
export function eventsJsonBytes(events: readonly OutboundEvent[]): Buffer | undefined {
  const writer = arrayWriter;
  writer.reset();
  for (const { mapped, writeJson } of events) {
    if (mapped !== undefined || writeJson === undefined) return undefined;
    writer.bytes(writer.length === 0 ? arrayStart : separator);
    writeJson(writer);
  }
  if (writer.length === 0) return undefined;
  writer.bytes(arrayEnd);
  const body = asBuffer(writer.copy());
  if (writer.capacity > arrayBytesKept) arrayWriter = new ByteWriter(arrayFirstBytes);
  return body;
}

const [arrayStart, separator, arrayEnd] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')];
const arrayFirstBytes = 64 * 1_024;
/** A buffer that grew beyond this many bytes is replaced after its request. */
const arrayBytesKept = 2 * 1_024 ** 2;
let arrayWriter = new ByteWriter(arrayFirstBytes);

/**
 * Whether an event is the customer's own, or a mapping gave it a customer name. Events of the
 * service, such as $identify and $experiment_impression, are not for advertising platforms.
 */
export function acceptsCustomerEvents(event: OutboundEvent): boolean {
  return !outboundName(event).startsWith('$');
}

const dayMs = 86_400_000;

/**
 * Throws UnfitEventError for an event older than the platform accepts, because such an event would
 * cause the platform to refuse the whole request.
 */
export function checkAge(event: SentEvent, nowMs: number, daysMax: number): void {
  if (nowMs - event.timeMs > daysMax * dayMs) throw new UnfitEventError(`the event is older than ${daysMax} days`);
}

/** Seconds since the epoch. */
export function secondsOf(event: SentEvent): number {
  return Math.floor(event.timeMs / 1_000);
}
