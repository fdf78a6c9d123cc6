import type { HealthMinute, HealthRecord } from '../../shared/contracts/health-record.ts';

/** Outcomes of dispatches in one step of time. `at` is when it began, in ms since the epoch. */
export type HealthStep = {
  readonly at: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly stopped: number;
  readonly blocked: number;
};

const minuteMs = 60_000;
const hourMinutes = 60;

/** Steps of equal length; `nowMs` is in the last one. */
export type StepRange = { readonly nowMs: number; readonly stepMinutes: number; readonly steps: number };

/**
 * Sums the reports of all instances by step, including steps without dispatches. Steps begin at whole multiples of
 * their length. Counts older than a day are by the hour, and belong to the step in which the hour begins. Pure.
 */
export function sumHealthSteps(reports: readonly HealthRecord[], range: StepRange): HealthStep[] {
  const { stepMinutes, steps } = range;
  const first = firstStep(range);
  const sums = Array.from({ length: steps }, () => ({ succeeded: 0, failed: 0, stopped: 0, blocked: 0 }));
  const add = (minute: number, [, succeeded, failed, stopped, blocked]: HealthMinute): void => {
    const sum = sums[Math.floor(minute / stepMinutes) - first];
    if (sum === undefined) return;
    sum.succeeded += succeeded;
    sum.failed += failed;
    sum.stopped += stopped;
    sum.blocked += blocked;
  };
  for (const { minutes, hours = [] } of reports) {
    for (const counted of minutes) add(counted[0], counted);
    for (const counted of hours) add(counted[0] * hourMinutes, counted);
  }
  return sums.map((sum, index) => ({ at: (first + index) * stepMinutes * minuteMs, ...sum }));
}

/** The first step of a range, in steps of its length since the epoch. */
export function firstStep({ nowMs, stepMinutes, steps }: StepRange): number {
  return Math.floor(nowMs / minuteMs / stepMinutes) - steps + 1;
}
