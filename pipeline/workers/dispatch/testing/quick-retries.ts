import { createRetryPolicy } from '../settlement/retry-policy.ts';
import type { RetryPolicy } from '../settlement/retry-policy.ts';

const quicker = 10;

/** The back-off of production in a tenth of its time, for tests in which much fails and nothing is looked at meanwhile. */
export function quickRetries(windowMs: number, holdMs: number): RetryPolicy {
  const policy = createRetryPolicy(windowMs, holdMs);
  return {
    ...policy,
    next(failure, random) {
      const decision = policy.next(failure, random);
      if (decision.kind === 'give-up' || failure.afterMs !== undefined) return decision;
      const waitMs = (decision.notBeforeMs - failure.nowMs) / quicker;
      return { ...decision, notBeforeMs: failure.nowMs + Math.round(waitMs) };
    },
  };
}
