import { isJsonObject } from '../process/json.ts';
import type { JsonObject } from '../process/json.ts';
import type { OutboundEvent } from './define.ts';
import { withoutMembers } from './rename-members.ts';

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
 * applies it alone decides what is told.
 */
export function traitsOf(event: OutboundEvent): JsonObject {
  const mapped = mappedProperties(event);
  if (mapped === undefined) return flat(withoutMembers(event.resolved.visitor, notTold));
  const visitor = mapped['visitor'];
  return { ...propertiesOf(event), ...(isJsonObject(visitor) ? flat(visitor) : {}) };
}

/** The context that goes with an event. Where a mapping applies it alone decides what is told. */
export function contextOf(event: OutboundEvent): JsonObject {
  return mappedProperties(event) === undefined ? event.resolved.event.context : {};
}

const ofVisitor: ReadonlySet<string> = new Set(['visitor']);
/** The ids travel in places of their own; the others are no traits of a person. */
const notTold: ReadonlySet<string> = new Set(['id', 'external_id', 'consent', 'ip']);
const ownProperties: ReadonlySet<string> = new Set(['custom_properties']);

function flat(visitor: JsonObject): JsonObject {
  const own = visitor['custom_properties'];
  return { ...withoutMembers(visitor, ownProperties), ...(isJsonObject(own) ? own : {}) };
}
