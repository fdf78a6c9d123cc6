import type { LimitData } from '../routing/allowed-data.ts';
import { changeEvents } from './change-events.ts';
import type { OutboundEvent, PreparedDestination } from './sdk/destination.ts';

/**
 * Has a destination see no more of an event's properties than may leave: in its default payload, in what a mapping made of
 * it and in templates of its settings alike.
 */
export function withLimitedData<Prepared extends PreparedDestination>(prepared: Prepared, limit: LimitData): Prepared {
  return changeEvents(prepared, (event) => limitEvent(event, limit));
}

function limitEvent(
  { resolved, head, mapped, isLimited, consentMode, work }: OutboundEvent,
  limit: LimitData,
): OutboundEvent {
  const { event } = resolved;
  const own = { ...event, event_properties: limit(event.event, event.event_properties) };
  return {
    resolved: { ...resolved, event: own },
    ...(head && { head }),
    // What it is called there does not change which event it is.
    // Without `remake`, which would make the properties again without the limit.
    mapped: mapped && { eventName: mapped.eventName, properties: limit(event.event, mapped.properties) },
    isLimited,
    consentMode,
    work,
  };
}
