import type { LimitData } from '../routing/allowed-data.ts';
import { changeEvents } from './change-events.ts';
import type { OutboundEvent, PreparedDestination } from './sdk/destination.ts';

/**
 * Removes the properties that may not be sent, before the destination reads the event. Applies to the
 * default payload, to mapped payloads and to templates in settings.
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
    // The limit depends on the event's own name, even if a mapping renames it. `remake` is dropped, because it would
    // rebuild the properties without the limit.
    mapped: mapped && { eventName: mapped.eventName, properties: limit(event.event, mapped.properties) },
    isLimited,
    consentMode,
    work,
  };
}
