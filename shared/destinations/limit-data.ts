import type { LimitData } from '../routing/allowed-data.ts';
import { changeEvents, changeProperties } from './change-events.ts';
import type { PreparedDestination } from './sdk/destination.ts';

/**
 * Removes the properties that may not be sent, before the destination reads the event. Applies to the
 * default payload, to mapped payloads and to templates in settings.
 */
export function withLimitedData<Prepared extends PreparedDestination>(prepared: Prepared, limit: LimitData): Prepared {
  return changeEvents(prepared, (event) => {
    // The limit depends on the event's own name, even if a mapping renames it.
    const name = event.resolved.event.event;
    return changeProperties(event, (properties) => limit(name, properties));
  });
}
