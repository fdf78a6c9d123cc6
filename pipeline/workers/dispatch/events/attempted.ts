import type { RetryRecord } from '../../../../shared/contracts/events/retry-record.ts';

/**
 * Number of earlier attempts of an event, and the time of the first, in ms since the epoch. A fresh event has 0
 * attempts and no time.
 */
export type Attempted = {
  readonly attempts: number;
  readonly firstAttemptAtMs: number | undefined;
  /** When the destination last refused its key or token for this event: see `RetryRecord`. */
  readonly heldAtMs: number | undefined;
};

export const notAttempted: Attempted = { attempts: 0, firstAttemptAtMs: undefined, heldAtMs: undefined };

/** The attempts in a record of the retry log. */
export function attemptedBefore({ attempts, firstAttemptAt, heldAt }: RetryRecord): Attempted {
  return { attempts, firstAttemptAtMs: attempts === 0 ? undefined : firstAttemptAt, heldAtMs: heldAt };
}
