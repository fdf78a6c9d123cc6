import type { JsonObject } from '../process/json.ts';
import { browserId } from './browser-context.ts';
import { contactIds } from './contact-ids.ts';
import { propertiesOf } from './default-payload.ts';
import { UnfitEventError } from './define.ts';
import type { OutboundEvent } from './define.ts';
import { eventUuid } from './event-uuid.ts';
import { hubspotText } from './hubspot-text.ts';
import { sentEvent } from './sent-event.ts';

const nameCharactersMax = 50;
const propertiesMax = 50;

/** One custom event. Throws UnfitEventError where it has no contact to belong to, or no name HubSpot could know. */
export function hubspotEvent(event: OutboundEvent, hubId: string | undefined): JsonObject {
  const sent = sentEvent(event);
  const { email } = contactIds(event);
  const utk = browserId(sent, ['hubspotutk']);
  if (email === undefined && utk === undefined) {
    throw new UnfitEventError('HubSpot needs an e-mail address or the cookie hubspotutk');
  }
  return {
    eventName: qualifiedName(sent.name, hubId),
    email,
    utk,
    occurredAt: new Date(sent.timeMs).toISOString(),
    uuid: eventUuid(sent.id),
    properties: textProperties(propertiesOf(event)),
  };
}

/** Whether a name is one of HubSpot's own, such as pe1234_order_completed. */
export function isQualified(name: string): boolean {
  return /^pe\d+_/.test(name);
}

function qualifiedName(name: string, hubId: string | undefined): string {
  if (isQualified(name)) return name;
  const internal = internalName(name);
  if (internal === '' || hubId === undefined) throw new UnfitEventError('the event has no name that HubSpot takes');
  return `pe${hubId}_${internal}`;
}

/** As many properties as HubSpot takes, each under a name it takes: it refuses an event for a single one of them. */
function textProperties(properties: JsonObject): JsonObject {
  const texts = Object.entries(properties).flatMap(([name, value]) => {
    const internal = internalName(name);
    const text = hubspotText(value);
    const isTaken = text !== undefined && internal !== '' && internal.length <= nameCharactersMax;
    return isTaken ? [[internal, text] as const] : [];
  });
  return Object.fromEntries(texts.slice(0, propertiesMax));
}

/** Internal names start with a letter and have lower-case letters, digits and underscores only. */
function internalName(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+|_+$/g, '');
}
