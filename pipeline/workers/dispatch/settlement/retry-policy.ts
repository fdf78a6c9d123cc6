import { retryTier, retryTierDelaysMs } from '../../../../shared/contracts/events/retry-record.ts';

export type RetryPolicy = {
  /** Where an event goes after its `attempts`-th failed attempt. Pure but for the random number given. */
  next(failure: FailedAttempt, random: number): RetryDecision;
  /** Where an event goes whose destination is held; it is never given up for that. */
  hold(nowMs: number, random: number): Extract<RetryDecision, { readonly kind: 'again' }>;
};

export type FailedAttempt = {
  /** Attempts made so far, the failed one included. */
  readonly attempts: number;
  readonly firstAttemptAtMs: number;
  readonly nowMs: number;
  /** What the platform asked for with Retry-After. */
  readonly afterMs?: number | undefined;
};

export type RetryDecision =
  | { readonly kind: 'again'; readonly tier: number; readonly notBeforeMs: number }
  | { readonly kind: 'give-up' };

const backoffTiers = retryTierDelaysMs.length - 1;
const firstDelayMinMs = 500;
/** A platform that asks for more waits no longer than this, in ms. */
export const retryAfterMaxMs = 3_600_000;

/**
 * Exponential back-off with full jitter inside each step: the wait after attempt n lies anywhere between the longest
 * wait of the step before and its own, so waits never shrink and a burst of failures spreads out. Events are tried for
 * `windowMs` after their first attempt, the last time at its very end. `holdMs` is how long a held destination is left
 * alone at first.
 */
export function createRetryPolicy(windowMs: number, holdMs: number): RetryPolicy {
  return {
    hold(nowMs, random) {
      const delayMs = Math.round(holdMs * (1 + random / 2));
      return { kind: 'again', tier: retryTier(tierFor(delayMs)), notBeforeMs: nowMs + delayMs };
    },
    next({ attempts, firstAttemptAtMs, nowMs, afterMs }, random) {
      const endMs = firstAttemptAtMs + windowMs;
      if (nowMs >= endMs) return { kind: 'give-up' };
      const tier = Math.min(Math.max(attempts, 1), backoffTiers) - 1;
      const askedMs = Math.min(afterMs ?? 0, retryAfterMaxMs);
      const delayMs = Math.max(backoffMs(tier, random), askedMs);
      if (nowMs + askedMs > endMs) return { kind: 'give-up' };
      const notBeforeMs = Math.min(nowMs + delayMs, endMs);
      return { kind: 'again', tier: retryTier(tierFor(notBeforeMs - nowMs)), notBeforeMs };
    },
  };
}

function backoffMs(tier: number, random: number): number {
  const longest = delayOf(tier);
  const shortest = tier === 0 ? firstDelayMinMs : delayOf(tier - 1);
  return Math.round(shortest + random * (longest - shortest));
}

/** The first tier whose waits are at least this long: a wait in a tier is never far from that of its neighbours. */
function tierFor(delayMs: number): number {
  const tier = retryTierDelaysMs.findIndex((longest) => longest >= delayMs);
  return tier === -1 ? retryTierDelaysMs.length - 1 : tier;
}

function delayOf(tier: number): number {
  return retryTierDelaysMs[tier] ?? retryAfterMaxMs;
}
