import type { JsonObject } from '../runtime/json.ts';
import { changeEvents } from './change-events.ts';
import type { OutboundEvent, PreparedDestination } from './sdk/destination.ts';
import { withoutMembers } from './sdk/json.ts';
import { limitedDataUse } from './sdk/limited-data-use.ts';

/**
 * Adds the platform's limited-use fields to events of visitors who opted out, whatever a mapping or
 * the event's own `consent` contains. For kinds that declare such fields in `facts`.
 */
export function withLimitedUse<Prepared extends PreparedDestination>(prepared: Prepared): Prepared {
  return changeEvents(prepared, (event) => (event.isLimited === true ? limitUse(event) : event));
}

function limitUse({ resolved, head, mapped, consentMode, work }: OutboundEvent): OutboundEvent {
  const { event } = resolved;
  return {
    resolved: { ...resolved, event: { ...event, event_properties: limited(event.event_properties) } },
    ...(head && { head }),
    mapped: mapped && { eventName: mapped.eventName, properties: limited(mapped.properties) },
    isLimited: true,
    consentMode,
    work,
  };
}

const grants: ReadonlySet<string> = new Set(['consent']);

/** A `consent` property may grant what the visitor opted out of, so it is removed. */
const limited = (properties: JsonObject): JsonObject => ({
  ...withoutMembers(properties, grants),
  [limitedDataUse]: true,
});
