import { hash } from 'node:crypto';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/**
 * A UUID for an event's id, the same at every attempt: the id itself where it is one, else a version 8 UUID (RFC 9562)
 * made of its hash. For platforms that recognise a repeated event by a UUID.
 */
export function eventUuid(eventId: string): string {
  if (uuid.test(eventId)) return eventId.toLowerCase();
  const hex = hash('sha256', eventId, 'hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
