import type { ConsentMode } from '../contracts/events/consent-words.ts';
import { isJsonObject } from '../runtime/json.ts';
import type { JsonObject } from '../runtime/json.ts';
import { changeEvents } from './change-events.ts';
import type { OutboundEvent, PreparedDestination } from './sdk/destination.ts';

/**
 * Sets Google's consent types in an event's `consent` property from the account's purposes. A value
 * that the event or a mapping already set is kept if it is a denial, or if no purpose covers the
 * type.
 */
export function withConsentMode<Prepared extends PreparedDestination>(prepared: Prepared): Prepared {
  return changeEvents(prepared, (event) => {
    const { consentMode } = event;
    return consentMode === undefined ? event : passConsent(event, consentMode);
  });
}

function passConsent(outbound: OutboundEvent, consentMode: ConsentMode): OutboundEvent {
  const { resolved, head, mapped, isLimited, work } = outbound;
  const { event } = resolved;
  const withConsent = (properties: JsonObject): JsonObject => ({
    ...properties,
    consent: joinConsent(properties['consent'], consentMode),
  });
  return {
    resolved: { ...resolved, event: { ...event, event_properties: withConsent(event.event_properties) } },
    ...(head && { head }),
    mapped: mapped && { eventName: mapped.eventName, properties: withConsent(mapped.properties) },
    isLimited,
    consentMode,
    work,
  };
}

function joinConsent(given: unknown, consentMode: ConsentMode): JsonObject {
  const own: JsonObject = isJsonObject(given) ? given : {};
  const said = Object.entries(consentMode).filter(([type, word]) => word === 'DENIED' || own[type] !== 'DENIED');
  return { ...own, ...Object.fromEntries(said) };
}
