import type { DeadLetter } from './dead-letter.ts';

/** Which dead letters of a destination are meant: those of a reason, those last tried in a range of time, or all. */
export type DeadLetterFilter = {
  readonly reason?: string | undefined;
  /** Ms since the epoch; the last attempt was at or after it. */
  readonly fromMs?: number | undefined;
  /** Ms since the epoch; the last attempt was before it. */
  readonly toMs?: number | undefined;
};

export function matchesFilter(letter: DeadLetter, { reason, fromMs, toMs }: DeadLetterFilter): boolean {
  if (reason !== undefined && letter.reason !== reason) return false;
  return letter.lastAttemptAt >= (fromMs ?? 0) && letter.lastAttemptAt < (toMs ?? Infinity);
}

/**
 * What the clocks of a pipeline and of the log may differ by, in ms. A dead letter is stored after its last attempt, so
 * one of `fromMs` or later lies behind this long before it in the log.
 */
export const clockSlackMs = 60_000;
