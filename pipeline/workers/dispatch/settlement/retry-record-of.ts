import type { RetryRecord } from '../../../../shared/contracts/events/retry-record.ts';
import type { DispatchItem } from '../sources/dispatch-item.ts';

export const heldAt = (atMs: number | undefined): Pick<RetryRecord, 'heldAt'> =>
  atMs === undefined ? {} : { heldAt: atMs };

export const originOf = ({ origin }: DispatchItem): Pick<RetryRecord, 'origin'> =>
  origin === undefined ? {} : { origin };

/** Which event a record is about: a reference, or the event itself where EVENTS may have it no more. */
export function recordOf(
  item: DispatchItem,
): Pick<RetryRecord, 'visitorId' | 'eventId' | 'receivedAt' | 'bytes' | 'origin' | 'line'> {
  const { head, bytesRead: bytes, origin, isCopied } = item;
  const { visitorId, id: eventId, receivedAtMs: receivedAt } = head;
  const about = { visitorId, eventId, receivedAt, bytes, ...originOf(item) };
  return isCopied || origin === undefined ? { ...about, line: item.line } : about;
}
