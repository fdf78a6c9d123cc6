import { mappedProperties } from './default-payload.ts';
import type { OutboundEvent } from './define.ts';
import { knownPerson } from './known-person.ts';
import { sentEvent } from './sent-event.ts';

/** Every name a platform may know the visitor of an event by. */
export type ContactIds = {
  /** Ours: there also for a visitor nobody knows yet. */
  readonly visitorId: string;
  /** The customer's. */
  readonly externalId: string | undefined;
  readonly email: string | undefined;
  /** In the form of E.164; undefined where what is known cannot be read as that. */
  readonly phone: string | undefined;
};

const e164 = /^\+[1-9]\d{6,14}$/;

/**
 * Reads them from the visitor. Only a mapping gives others, or withholds one: an address among the properties as they
 * came may be somebody else's, whom the visitor invites.
 */
export function contactIds(event: OutboundEvent): ContactIds {
  const sent = sentEvent(event);
  const person = knownPerson({ ...sent, properties: mappedProperties(event) ?? {} });
  const phone = person.phone?.replace(/[\s().-]/g, '');
  return {
    visitorId: sent.visitor.id,
    externalId: person.externalId,
    email: person.email,
    phone: phone !== undefined && e164.test(phone) ? phone : undefined,
  };
}
