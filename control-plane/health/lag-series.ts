import type { LagRecord } from '../../shared/contracts/resolve-lag.ts';
import { firstStep } from './health-series.ts';
import type { StepRange } from './health-series.ts';

const hourMinutes = 60;

/**
 * The longest time that an event waited to be resolved, in each step, in ms, over all pipelines; null if no pipeline
 * measured it. Steps shorter than an hour use the counts by minute, longer steps the counts by hour. Pure.
 */
export function longestLags(reports: readonly LagRecord[], range: StepRange): (number | null)[] {
  const { stepMinutes, steps } = range;
  const first = firstStep(range);
  const longest = Array.from({ length: steps }, (): number | null => null);
  for (const { minutes, hours } of reports) {
    const [seen, unitMinutes] = stepMinutes < hourMinutes ? [minutes, 1] : [hours, hourMinutes];
    for (const [unit, lagMs] of seen) {
      const step = Math.floor((unit * unitMinutes) / stepMinutes) - first;
      const known = longest[step];
      if (known !== undefined) longest[step] = Math.max(known ?? 0, lagMs);
    }
  }
  return longest;
}
