import { encodeResolved } from '../resolved-event.ts';
import type { ResolvedEvent } from '../resolved-event.ts';
import type { RetryRecord } from '../retry-record.ts';

/** The fields of a retry record that contains its event instead of a reference to it. */
export function copied(
  event: ResolvedEvent,
): Pick<RetryRecord, 'visitorId' | 'eventId' | 'receivedAt' | 'bytes'> & { readonly line: string } {
  const line = encodeResolved(event);
  const { id: eventId, received_at: receivedAt } = event.event;
  return { visitorId: event.visitor.id, eventId, receivedAt, bytes: line.length, line };
}
