import type { ConsentMode } from '../contracts/events/consent-words.ts';
import { isJsonObject } from '../runtime/json.ts';
import type { JsonObject } from '../runtime/json.ts';
import { changeEvents, changeProperties } from './change-events.ts';
import type { PreparedDestination } from './sdk/destination.ts';

/**
 * Sets Google's consent types in an event's `consent` property from the account's purposes. A value
 * that the event or a mapping already set is kept if it is a denial, or if no purpose covers the
 * type.
 */
export function withConsentMode<Prepared extends PreparedDestination>(prepared: Prepared): Prepared {
  return changeEvents(prepared, (event) => {
    const { consentMode } = event;
    if (consentMode === undefined) return event;
    return changeProperties(event, (properties) => ({
      ...properties,
      consent: joinConsent(properties['consent'], consentMode),
    }));
  });
}

function joinConsent(given: unknown, consentMode: ConsentMode): JsonObject {
  const own: JsonObject = isJsonObject(given) ? given : {};
  const said = Object.entries(consentMode).filter(([type, word]) => word === 'DENIED' || own[type] !== 'DENIED');
  return { ...own, ...Object.fromEntries(said) };
}
