import { backoffMs } from '../../shared/runtime/retry.ts';
import type { Backoff } from '../../shared/runtime/retry.ts';

/** Whether a failed actor or thread restarts soon or is quarantined first, and the delay in ms. */
export type Restart =
  /** `failuresInARow` counts successive failures after short runs. */
  | { readonly kind: 'restart'; readonly delayMs: number; readonly failuresInARow: number }
  /** After repeated failures, the actor or thread is paused for a long time, and an operator should check it. */
  | { readonly kind: 'quarantine'; readonly delayMs: number; readonly failuresInARow: number };

export type RestartLimits = {
  readonly backoff: Backoff;
  /** Delay before the restart of an actor that is not at fault, in ms. */
  readonly blamelessMs: number;
  /** After a run of at least this length, a failure counts as the first one, in ms. */
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
 * Decides what follows a failure: a restart after doubling delays, then quarantine. `failuresInARow` comes from the
 * previous decision and is 0 at first; `ranMs` is the length of the last run. `random` in [0, 1) shortens the delay by
 * up to half, to spread restarts.
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
 * Decides what follows a failure of the log or a takeover by another process: a restart soon, which is not counted as a
 * failure. A quarantined actor would stay paused long after the log has recovered, or after the other process has
 * ended.
 */
export function decideBlamelessRestart(
  failuresInARow: number,
  random: number,
  { blamelessMs }: RestartLimits = restartLimits,
): Restart {
  return { kind: 'restart', delayMs: blamelessMs * (1 - random / 2), failuresInARow };
}
