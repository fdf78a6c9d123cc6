import { createRetryPolicy } from '../settlement/retry-policy.ts';
import type { RetryPolicy } from '../settlement/retry-policy.ts';

const quicker = 10;

/**
 * The backoff of production with a tenth of its waits, for tests with many failures that check only the final result.
 */
export function quickRetries(windowMs: number, pauseMs: number): RetryPolicy {
  const policy = createRetryPolicy(windowMs, pauseMs);
  return (failed, random) => {
    const step = policy(failed, random);
    const { nowMs, outcome } = failed;
    if (step.kind !== 'again' || (outcome.kind === 'retry' && outcome.afterMs !== undefined)) return step;
    return { ...step, notBeforeMs: nowMs + Math.round((step.notBeforeMs - nowMs) / quicker) };
  };
}
