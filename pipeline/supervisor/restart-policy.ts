import { backoffMs } from '../../shared/runtime/retry.ts';
import type { Backoff } from '../../shared/runtime/retry.ts';

/** When what failed may start again. */
export type Restart =
  /** `failuresInARow` counts those that came soon after one another. */
  | { readonly kind: 'restart'; readonly delayMs: number; readonly failuresInARow: number }
  /** It fails over and over: left alone for a long while, and somebody should look. */
  | { readonly kind: 'quarantine'; readonly delayMs: number; readonly failuresInARow: number };

export type RestartLimits = {
  readonly backoff: Backoff;
  /** What the log kept from running starts again after this, in ms. */
  readonly ofLogMs: number;
  /** Having run this long, what fails has failed for the first time again. */
  readonly stableAfterMs: number;
  readonly failuresToQuarantine: number;
  readonly quarantineMs: number;
};

export const restartLimits: RestartLimits = {
  backoff: { firstMs: 100, longestMs: 10_000 },
  ofLogMs: 2_000,
  stableAfterMs: 60_000,
  failuresToQuarantine: 10,
  quarantineMs: 300_000,
};

/**
 * Decides after a failure: doubling delays, then quarantine. `failuresInARow` is what the decision before said, 0 at
 * first; `ranMs` how long it ran. `random` in [0, 1) takes up to half off, so that many do not start as one.
 */
export function decideRestart(
  failuresInARow: number,
  ranMs: number,
  random: number,
  limits: RestartLimits = restartLimits,
): Restart {
  const failures = ranMs >= limits.stableAfterMs ? 1 : failuresInARow + 1;
  if (failures >= limits.failuresToQuarantine) {
    return { kind: 'quarantine', delayMs: limits.quarantineMs, failuresInARow: failures };
  }
  return { kind: 'restart', delayMs: backoffMs(limits.backoff, failures, random), failuresInARow: failures };
}

/**
 * After a failure that was the log's: soon again, and uncounted. Whoever would be quarantined for it would stand still
 * long after the log is well.
 */
export function decideRestartOfLog(
  failuresInARow: number,
  random: number,
  { ofLogMs }: RestartLimits = restartLimits,
): Restart {
  return { kind: 'restart', delayMs: ofLogMs * (1 - random / 2), failuresInARow };
}
