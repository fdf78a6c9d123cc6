import type { ConsentMode } from '../contracts/events/consent-words.ts';
import { isJsonObject } from '../runtime/json.ts';
import type { JsonObject } from '../runtime/json.ts';
import { changeEvents } from './change-events.ts';
import type { OutboundEvent, PreparedDestination } from './sdk/destination.ts';

/**
 * Has a destination see what the purposes of the account say of Google's consent types in the property `consent` of an
 * event. What the event or a mapping says there stays where it denies, or where no purpose says anything of the type.
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
