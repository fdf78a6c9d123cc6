import type { HealthMinute, HealthRecord } from '../../shared/contracts/health-record.ts';

/** Outcomes of dispatches in one step of time, by its begin, in ms since the epoch. */
export type HealthStep = {
  readonly at: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly stopped: number;
  readonly blocked: number;
};

const minuteMs = 60_000;
const hourMinutes = 60;

/** So many steps of so many minutes; the last one is that which `nowMs` is in. */
export type StepRange = { readonly nowMs: number; readonly stepMinutes: number; readonly steps: number };

/**
 * Sums what all instances report, step by step; steps in which nothing happened are there, too. Steps begin at whole
 * multiples of their length. What is a day old or older is known by the hour: it is in the step its hour begins in. Pure.
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
