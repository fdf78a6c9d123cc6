import type { ResolvedEvent } from '../../contracts/events/resolved-event.ts';
import { mayHoldExact, parseExact, stringifyExact } from '../../json/exact-numbers.ts';
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

/** The event's head, without parsing the event where that can be spared. */
export function outboundHead(event: OutboundEvent): EventHead {
  return event.head ?? headOf(event.resolved);
}

/** The event's name as it is sent: of the mapping where one applies, else its own. */
export function outboundName(event: OutboundEvent): string {
  return event.mapped?.eventName ?? outboundHead(event).name;
}

/** The name of the event that tells who a visitor is. */
export const identifyEvent = '$identify';

/** Whether an event, by the name a mapping gave it or its own, tells who its visitor is. */
export function isIdentify(event: OutboundEvent): boolean {
  return outboundName(event) === identifyEvent;
}

/** The name that a view of a screen of an app has. */
export const screenEvent = 'Screen Viewed';

/** The name that a view of a page has. */
export const pageEvent = 'Page Viewed';

/** A group that a visitor belongs to. */
export type Group = { readonly type: string; readonly id: string; readonly traits: JsonObject };

const ownOfGroup: ReadonlySet<string> = new Set(['group_id', 'group_type', '$group_type', '$group_key', '$group_set']);

/**
 * The group of an event that says its visitor belongs to one, of a library that follows Segment's specification or of
 * PostHog's. `standardType` is what kind of group it is where the event does not say.
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

/** The group that the visitor was last said to belong to. Where a mapping applies, it alone decides what is sent. */
export function groupOfVisitor(event: OutboundEvent): string | undefined {
  if (mappedProperties(event) !== undefined) return undefined;
  const id = event.resolved.visitor.custom_properties['group_id'];
  return typeof id === 'number' ? String(id) : textOf(id);
}

/** The name of the event that says that a visitor belongs to a group. */
export const groupEvent = '$group';

export function isGroup(event: OutboundEvent): boolean {
  return outboundName(event) === groupEvent;
}

/** Whether an event says that two ids are one. */
export function isAlias(event: OutboundEvent): boolean {
  return outboundName(event) === aliasEvent;
}

/**
 * Whether an event says that a visitor belongs to a group, or that two ids are one: nothing that the visitor did. A platform
 * that has no call of its own for it is not sent the event.
 */
export function isAboutIds(event: OutboundEvent): boolean {
  return isGroup(event) || isAlias(event);
}

/** An event as a platform kind reads it: the mapping's name and properties where a mapping applies, else its own. */
export type SentEvent = {
  readonly id: string;
  readonly name: string;
  /** A mapping gave it a name other than its own. */
  readonly isRenamed: boolean;
  /** When it happened, in ms since the epoch. */
  readonly timeMs: number;
  readonly properties: JsonObject;
  readonly context: JsonObject;
  readonly visitor: ResolvedVisitor;
  /**
   * What a platform recognises a repeated event by, also one that a pixel in the browser sent: the property that the
   * destination or common use has for it, else the event's own id.
   */
  readonly deduplicationId: string;
  /** ISO 4217, of amounts without a currency; undefined where the destination assumes none. */
  readonly defaultCurrency: string | undefined;
};

/** What settings of a destination say of how its events are read. */
export type ReadingSettings = {
  /** The property that holds the id an event is deduplicated by. */
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
    timeMs: event.time,
    properties,
    context: withoutSender(event.context),
    visitor,
  };
}

/** Names that the libraries of ad platforms and of customer data give the id, the most common first. */
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

/** Text of a property; undefined where it is missing, empty or something else. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A finite number, also one written as text; undefined for anything else. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  const text = textOf(value)?.trim();
  if (text === undefined || !/^-?\d+(\.\d+)?$/.test(text)) return undefined;
  return Number(text);
}

/**
 * The properties a mapping made; undefined where none applies, and where one only gives the event another name, for it
 * leaves the properties as they are.
 */
export function mappedProperties({ resolved, mapped }: OutboundEvent): JsonObject | undefined {
  return mapped?.properties === resolved.event.event_properties ? undefined : mapped?.properties;
}

/** The event's properties; those of a mapping without what it says of the visitor. */
export function propertiesOf(event: OutboundEvent): JsonObject {
  const mapped = mappedProperties(event);
  if (mapped === undefined) return event.resolved.event.event_properties;
  return isJsonObject(mapped['visitor']) ? withoutMembers(mapped, ofVisitor) : mapped;
}

/**
 * What an identify tells about its person: the visitor's well-known and own properties side by side. Where a mapping
 * applies, it alone decides what is sent.
 */
export function traitsOf(event: OutboundEvent): JsonObject {
  const mapped = mappedProperties(event);
  if (mapped === undefined) return flat(withoutMembers(event.resolved.visitor, notTold));
  const visitor = mapped['visitor'];
  return { ...propertiesOf(event), ...(isJsonObject(visitor) ? flat(visitor) : {}) };
}

/**
 * What an identify itself says of its person, without what was known before: for platforms that add to what they have.
 * Where a mapping applies, all that it makes.
 */
export function saidTraitsOf(event: OutboundEvent): JsonObject {
  return mappedProperties(event) === undefined ? flat(event.resolved.event.event_properties) : traitsOf(event);
}

/**
 * The context that goes with an event as properties, without ids of its device and of other platforms' browsers: these go
 * where a platform has a place for them. Where a mapping applies, it alone decides what is sent.
 */
export function contextOf(event: OutboundEvent): JsonObject {
  return mappedProperties(event) === undefined ? withoutMembers(event.resolved.event.context, noProperties) : {};
}

/** Which server sent the event tells a platform nothing of the visitor. */
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
/** The ids travel in places of their own; the others are no traits of a person. */
const notTold: ReadonlySet<string> = new Set(['id', 'external_id', 'consent', 'ip', clickIdsProperty]);
const ownProperties: ReadonlySet<string> = new Set(['custom_properties']);

function flat(visitor: JsonObject): JsonObject {
  const own = visitor['custom_properties'];
  return { ...withoutMembers(visitor, ownProperties), ...(isJsonObject(own) ? own : {}) };
}

/** The canonical event with its visitor as JSON text; the name and the properties of a mapping where one applies. */
export function eventJson(outbound: OutboundEvent): string {
  const { json, mapped } = outbound;
  if (mapped === undefined && json !== undefined) return json;
  if (mapped?.remake !== undefined && json !== undefined && mayHoldExact(json)) {
    const exact = parseExact(json) as Pick<ResolvedEvent, 'event' | 'visitor'>;
    return mappedJson(exact, mapped.eventName, mapped.remake(exact));
  }
  const { event, visitor } = outbound.resolved;
  if (mapped === undefined) return JSON.stringify({ event, visitor });
  return mappedJson({ event, visitor }, mapped.eventName, mapped.properties);
}

function mappedJson(
  whole: Pick<ResolvedEvent, 'event' | 'visitor'>,
  eventName: string,
  properties: JsonObject,
): string {
  const { event, visitor } = whole;
  const renamed = { ...event, event: eventName, event_properties: properties };
  return stringifyExact({ event: renamed, visitor }, whole);
}

/**
 * The canonical events with their visitors as a JSON array, without making text of them. Undefined where one of them is not
 * sent as its bytes are.
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
/** After a larger request than usual its memory is not kept. */
const arrayBytesKept = 2 * 1_024 ** 2;
let arrayWriter = new ByteWriter(arrayFirstBytes);

/**
 * Whether an event is the customer's own, or was given a name of theirs by a mapping: not one of the service's, such as
 * $identify and $experiment_impression, which are nothing to an advertising platform.
 */
export function acceptsCustomerEvents(event: OutboundEvent): boolean {
  return !outboundName(event).startsWith('$');
}

const dayMs = 86_400_000;

/**
 * Throws UnfitEventError for an event that is older than the platform takes: such an event would have it refuse
 * everything in the same request.
 */
export function checkAge(event: SentEvent, nowMs: number, daysMax: number): void {
  if (nowMs - event.timeMs > daysMax * dayMs) throw new UnfitEventError(`the event is older than ${daysMax} days`);
}

/** Seconds since the epoch. */
export function secondsOf(event: SentEvent): number {
  return Math.floor(event.timeMs / 1_000);
}
