import { encodeResolved } from '../resolved-event.ts';
import type { ResolvedEvent } from '../resolved-event.ts';
import type { RetryRecord } from '../retry-record.ts';

/** What a record of the retry log has of an event that it has itself. */
export function copied(
  event: ResolvedEvent,
): Pick<RetryRecord, 'visitorId' | 'eventId' | 'receivedAt' | 'bytes'> & { readonly line: string } {
  const line = encodeResolved(event);
  const { id: eventId, received_at: receivedAt } = event.event;
  return { visitorId: event.visitor.id, eventId, receivedAt, bytes: line.length, line };
}
