import { eventKey } from '../../../../shared/contracts/events/event-origin.ts';
import type { RetryRecord } from '../../../../shared/contracts/events/retry-record.ts';

/** Identifies an event within its visitor: see `eventKey`. */
export type EventOfVisitor = { readonly visitorId: string; readonly key: string };

export function eventOfRecord({
  visitorId,
  eventId,
  origin,
}: Pick<RetryRecord, 'visitorId' | 'eventId' | 'origin'>): EventOfVisitor {
  return { visitorId, key: eventKey(eventId, origin) };
}
