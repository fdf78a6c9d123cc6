import { backoffMs } from '../../shared/runtime/retry.ts';
import type { Backoff } from '../../shared/runtime/retry.ts';

/** When a failed actor or thread may start again. */
export type Restart =
  /** `failuresInARow` counts failures that followed each other closely. */
  | { readonly kind: 'restart'; readonly delayMs: number; readonly failuresInARow: number }
  /** It fails repeatedly: it is paused for a long time, and an operator should check it. */
  | { readonly kind: 'quarantine'; readonly delayMs: number; readonly failuresInARow: number };

export type RestartLimits = {
  readonly backoff: Backoff;
  /** Delay before the restart of an actor that is not at fault, in ms. */
  readonly blamelessMs: number;
  /** A failure after a run of this length counts as the first one, in ms. */
  readonly stableAfterMs: number;
  readonly failuresToQuarantine: number;
  readonly quarantineMs: number;
};

export const restartLimits: RestartLimits = {
  backoff: { firstMs: 100, longestMs: 10_000 },
  blamelessMs: 2_000,
  stableAfterMs: 60_000,
  failuresToQuarantine: 10,
  quarantineMs: 300_000,
};

/**
 * Decides after a failure: doubling delays, then quarantine. `failuresInARow` comes from the previous decision, 0 at
 * first; `ranMs` is the length of the last run. `random` in [0, 1) takes up to half off the delay, to spread restarts.
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
 * After a failure of the log or a takeover by another process: restart soon, and do not count it. A quarantined actor would
 * stay paused long after the log has recovered, or after the other process has gone.
 */
export function decideBlamelessRestart(
  failuresInARow: number,
  random: number,
  { blamelessMs }: RestartLimits = restartLimits,
): Restart {
  return { kind: 'restart', delayMs: blamelessMs * (1 - random / 2), failuresInARow };
}
