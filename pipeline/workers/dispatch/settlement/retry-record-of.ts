import type { RetryRecord } from '../../../../shared/contracts/events/retry-record.ts';
import type { Attempted } from '../events/attempted.ts';
import type { DispatchItem } from '../sources/dispatch-item.ts';

/** The attempts of an event in the form in which its records store them. */
export function attemptsOf(
  { attempts, firstAttemptAtMs: firstAttemptAt }: Attempted,
  lastAttemptAt: number,
): Pick<RetryRecord, 'attempts' | 'firstAttemptAt' | 'lastAttemptAt'> {
  return { attempts, firstAttemptAt: firstAttemptAt ?? lastAttemptAt, lastAttemptAt };
}

export const originOf = ({ origin }: DispatchItem): Pick<RetryRecord, 'origin'> =>
  origin === undefined ? {} : { origin };

/** What an event waits for: when its next attempt is due, and the reason why it waits. */
export type Wait = Pick<RetryRecord, 'reason' | 'request' | 'notBefore'> & { readonly attempted: Attempted };

/** The record of a waiting event. It refers to the event, or contains it if EVENTS may no longer have it. */
export function retryRecordOf(item: DispatchItem, { attempted, ...wait }: Wait, nowMs: number): RetryRecord {
  const { head, bytesRead: bytes, origin, recorded } = item;
  const { visitorId, id: eventId, receivedAtMs: receivedAt } = head;
  const { heldAtMs: heldAt } = attempted;
  const held = heldAt === undefined ? {} : { heldAt };
  const about = { ...attemptsOf(attempted, nowMs), ...held, ...wait, visitorId, eventId, receivedAt, bytes };
  const isCopied = recorded?.isCopied === true || origin === undefined;
  return { ...about, ...originOf(item), ...(isCopied ? { line: item.line } : {}) };
}
