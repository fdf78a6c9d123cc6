import { eventKey } from '../../../../shared/contracts/events/event-origin.ts';
import type { RetryRecord } from '../../../../shared/contracts/events/retry-record.ts';

/** Which event of which visitor: see `eventKey`. */
export type EventOfVisitor = { readonly visitorId: string; readonly key: string };

export function eventOfRecord({ event, origin }: Pick<RetryRecord, 'event' | 'origin'>): EventOfVisitor {
  return { visitorId: event.visitor.id, key: eventKey(event.event.id, origin) };
}
