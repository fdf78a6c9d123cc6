import { mergeMembers } from '../json/exact-numbers.ts';
import type { LimitData } from '../routing/allowed-data.ts';
import { isJsonObject } from '../runtime/json.ts';
import type { JsonObject } from '../runtime/json.ts';
import { changeEvents, changeProperties } from './change-events.ts';
import type { PreparedDestination } from './sdk/destination.ts';
import { limitedDataUse } from './sdk/limited-data-use.ts';
import { overridesInEvent, overridesInVisitor } from './sdk/person.ts';

/**
 * Removes the properties that may not be sent, before the destination reads the event. Applies to the
 * default payload, to mapped payloads and to templates in settings.
 */
export function withLimitedData<Prepared extends PreparedDestination>(prepared: Prepared, limit: LimitData): Prepared {
  return changeEvents(prepared, (event) => {
    // The limit depends on the event's own name, even if a mapping renames it.
    const { event: name, event_properties: own } = event.resolved.event;
    const isMapped = event.mapped !== undefined && event.mapped.properties !== own;
    return changeProperties(event, (properties) => limitProperties(limit, name, properties, isMapped));
  });
}

/**
 * The properties of an event that may be sent. If the list does not have a member of `visitor`, or a mapped property
 * that overrides what is known of the visitor, it is null, and a null remains: without it, the kind would read the value
 * that the override hides. Limited use and denials of consent remain too.
 */
export function limitProperties(
  limit: LimitData,
  eventName: string,
  properties: JsonObject,
  isMapped: boolean,
): JsonObject {
  const kept = limit(eventName, properties);
  if (kept === properties) return properties;
  const { visitor, consent, [limitedDataUse]: limitedUse } = properties;
  const keptVisitor = isJsonObject(kept['visitor']) ? kept['visitor'] : {};
  const withheld = isJsonObject(visitor) ? nullsFor(visitor, keptVisitor, overridesInVisitor) : {};
  return mergeMembers(
    kept,
    nullsFor(properties, kept, isMapped ? overridesInEvent : none),
    Object.keys(withheld).length === 0 ? undefined : { visitor: mergeMembers(keptVisitor, withheld) },
    limitedUse === undefined ? undefined : { [limitedDataUse]: limitedUse },
    isJsonObject(consent) ? withDenials(kept, consent) : undefined,
  );
}

const none: ReadonlySet<string> = new Set();

function withDenials({ consent: kept }: JsonObject, consent: JsonObject): JsonObject | undefined {
  const denials = Object.entries(consent).filter(([, word]) => word === 'DENIED');
  if (denials.length === 0) return undefined;
  return { consent: mergeMembers(isJsonObject(kept) ? kept : {}, Object.fromEntries(denials)) };
}

function nullsFor(from: JsonObject, kept: JsonObject, overrides: ReadonlySet<string>): JsonObject {
  const names = Object.keys(from).filter(
    (name) => !Object.hasOwn(kept, name) && name !== '__proto__' && (from[name] === null || overrides.has(name)),
  );
  return Object.fromEntries(names.map((name) => [name, null]));
}

/** How `limitProperties` sends a property that the list does not have; `a.b` is a property within an object. */
export function unlistedAs(property: string, isMapped: boolean): 'plain' | 'reduced' | 'null' | 'omitted' {
  if (property === limitedDataUse) return 'plain';
  const [, holder, name = ''] = /^(?:(visitor|consent)\.)?(.+)$/.exec(property) ?? [];
  if (holder === 'consent' || property === 'consent') return 'reduced';
  const overrides = holder === 'visitor' ? overridesInVisitor : isMapped ? overridesInEvent : none;
  return overrides.has(name) ? 'null' : 'omitted';
}
