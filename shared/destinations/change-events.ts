import type { JsonObject } from '../runtime/json.ts';
import type { OutboundEvent, PreparedDestination } from './sdk/destination.ts';

/** Makes a destination receive its events as `change` rewrites them, in all of its functions. */
export function changeEvents<Prepared extends PreparedDestination>(
  prepared: Prepared,
  change: (event: OutboundEvent) => OutboundEvent,
): Prepared {
  const { accepts, groupOf, readAnswer } = prepared;
  return {
    ...prepared,
    ...(accepts && { accepts: (event: OutboundEvent) => accepts(change(event)) }),
    ...(groupOf && { groupOf: (event: OutboundEvent) => groupOf(change(event)) }),
    buildRequest: (events: readonly OutboundEvent[], nowMs: number) => prepared.buildRequest(events.map(change), nowMs),
    ...(readAnswer && {
      readAnswer: (...[answer, events]: Parameters<typeof readAnswer>) => readAnswer(answer, events.map(change)),
    }),
  };
}

/**
 * The event with `change` applied to its own properties and to the mapped ones. The properties of a mapping that only
 * renames the event stay the same object as the event's own: `mappedProperties` tells such a mapping by this.
 */
export function changeProperties(
  outbound: OutboundEvent,
  change: (properties: JsonObject) => JsonObject,
): OutboundEvent {
  const { resolved, head, mapped, isLimited, consentMode, work, change: earlier } = outbound;
  const { event } = resolved;
  const own = change(event.event_properties);
  const isOwn = mapped?.properties === event.event_properties;
  return {
    resolved: { ...resolved, event: { ...event, event_properties: own } },
    ...(head && { head }),
    // Most kinds do not read the text, which is created only when it is read.
    get json() {
      return outbound.json;
    },
    change: earlier === undefined ? change : (properties) => change(earlier(properties)),
    mapped: mapped && {
      eventName: mapped.eventName,
      properties: isOwn ? own : change(mapped.properties),
      remake: mapped.remake,
    },
    isLimited,
    consentMode,
    work,
  };
}
