import type { Outcome } from '../../../../shared/destinations/sdk/destination.ts';
import { retryTier, retryTierDelaysMs } from '../../../../shared/contracts/events/retry-record.ts';
import type { Attempted } from '../events/attempted.ts';

/** Decides the next step of an event whose attempt failed. Pure: `random` in [0, 1) is given. */
export type RetryPolicy = (failed: FailedAttempt, random: number) => NextStep;

export type FailedAttempt = {
  /** The attempts before the failed one. */
  readonly attempted: Attempted;
  readonly outcome: Exclude<Outcome, { readonly kind: 'delivered' | 'dropped' }>;
  readonly nowMs: number;
  /** Whether the destination accepted other events after it refused its key or token for this one. */
  readonly hasTakenOthers: boolean;
};

/** `attempted` includes the failed attempt, if that attempt counts. */
export type NextStep = { readonly attempted: Attempted; readonly reason: string } & (
  | {
      /** `paused`: the destination refuses its key or token, which does not count as an attempt. */
      readonly kind: 'again' | 'paused';
      readonly tier: number;
      readonly notBeforeMs: number;
    }
  | { readonly kind: 'dead letter'; readonly why: Extract<DeadLetterReason, 'refused' | 'exhausted'> }
);

/**
 * Why an event became a dead letter: the destination refused it permanently, no attempt was left, the retry log had no
 * room, the event cannot be read, its rules take more work than one event may cost, or threads died while they worked
 * on its frame.
 */
export const deadLetterReasons = ['refused', 'exhausted', 'no_room', 'unreadable', 'over_budget', 'set_aside'] as const;
export type DeadLetterReason = (typeof deadLetterReasons)[number];

const backoffTiers = retryTierDelaysMs.length - 1;
const firstDelayMinMs = 500;
/** A longer wait that a platform requests is shortened to this, in ms. */
export const retryAfterMaxMs = 3_600_000;

/**
 * Exponential back-off with jitter: the wait after attempt n is drawn from the range between the longest wait of the
 * previous step and the longest wait of its own step. So waits do not get shorter from one step to the next, and
 * retries after a burst of failures are spread out. Events are tried for `windowMs` after their first attempt, the last
 * time at the end of this window. `pauseMs` is the first pause of a destination that refuses its key or token.
 */
export function createRetryPolicy(windowMs: number, pauseMs: number): RetryPolicy {
  return ({ attempted, outcome, nowMs, hasTakenOthers }, random) => {
    const { reason } = outcome;
    const { firstAttemptAtMs = nowMs } = attempted;
    const counted = { ...attempted, attempts: attempted.attempts + 1, firstAttemptAtMs };
    // If the destination accepts other events, it refuses this event, even if its answer names the key.
    const isRefused = outcome.kind === 'reject' || (outcome.refusesAccess === true && hasTakenOthers);
    if (isRefused) return { kind: 'dead letter', why: 'refused', attempted: counted, reason };
    if (outcome.refusesAccess === true) {
      const waitMs = Math.round(pauseMs * (1 + random / 2));
      const uncounted = { attempts: attempted.attempts, firstAttemptAtMs: nowMs, heldAtMs: nowMs };
      return { kind: 'paused', attempted: uncounted, reason, tier: tierFor(waitMs), notBeforeMs: nowMs + waitMs };
    }
    const endMs = firstAttemptAtMs + windowMs;
    const askedMs = Math.min(outcome.afterMs ?? 0, retryAfterMaxMs);
    if (nowMs >= endMs || nowMs + askedMs > endMs) {
      return { kind: 'dead letter', why: 'exhausted', attempted: counted, reason: `no attempt left: ${reason}` };
    }
    const step = Math.min(counted.attempts, backoffTiers) - 1;
    const notBeforeMs = Math.min(nowMs + Math.max(backoffMs(step, random), askedMs), endMs);
    return { kind: 'again', attempted: counted, reason, tier: tierFor(notBeforeMs - nowMs), notBeforeMs };
  };
}

function backoffMs(tier: number, random: number): number {
  const longest = delayOf(tier);
  const shortest = tier === 0 ? firstDelayMinMs : delayOf(tier - 1);
  return Math.round(shortest + random * (longest - shortest));
}

/** The first tier whose longest wait is at least `delayMs`, so that the waits in one tier are similar. */
function tierFor(delayMs: number): number {
  const delay = retryTierDelaysMs.findIndex((longest) => longest >= delayMs);
  return retryTier(delay === -1 ? retryTierDelaysMs.length - 1 : delay);
}

function delayOf(tier: number): number {
  return retryTierDelaysMs[tier] ?? retryAfterMaxMs;
}
