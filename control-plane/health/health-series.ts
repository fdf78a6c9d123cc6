import type { HealthRecord } from '../../shared/contracts/health-record.ts';

/** What became of dispatches in one step of time, by when it began, in ms since the epoch. */
export type HealthStep = {
  readonly at: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly stopped: number;
  readonly blocked: number;
};

const minuteMs = 60_000;

/**
 * Sums what all instances report, step by step, over `steps` steps of `stepMinutes` that end with the one `nowMs` is in;
 * steps in which nothing happened are there, too. Steps begin at whole multiples of their length. Pure.
 */
export function sumHealthSteps(
  reports: readonly HealthRecord[],
  { nowMs, stepMinutes, steps }: { readonly nowMs: number; readonly stepMinutes: number; readonly steps: number },
): HealthStep[] {
  const last = Math.floor(nowMs / minuteMs / stepMinutes);
  const first = last - steps + 1;
  const sums = Array.from({ length: steps }, () => ({ succeeded: 0, failed: 0, stopped: 0, blocked: 0 }));
  for (const { minutes } of reports) {
    for (const [minute, succeeded, failed, stopped, blocked] of minutes) {
      const sum = sums[Math.floor(minute / stepMinutes) - first];
      if (sum === undefined) continue;
      sum.succeeded += succeeded;
      sum.failed += failed;
      sum.stopped += stopped;
      sum.blocked += blocked;
    }
  }
  return sums.map((sum, index) => ({ at: (first + index) * stepMinutes * minuteMs, ...sum }));
}
