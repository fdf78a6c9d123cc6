import { sourceCounts } from '../../shared/contracts/source-activity.ts';
import type { SourceCounts, SourceRecord } from '../../shared/contracts/source-activity.ts';
import { firstStep } from './health-series.ts';
import type { StepRange } from './health-series.ts';

const hourMinutes = 60;

/**
 * Sums the reports of all gateways about a source, by step. Steps shorter than an hour use the counts by minute, which
 * go back a quarter of an hour; longer steps use the counts by hour. Pure.
 */
export function sumSourceSteps(reports: readonly SourceRecord[], range: StepRange): SourceCounts[] {
  const { stepMinutes, steps } = range;
  const first = firstStep(range);
  const sums = Array.from({ length: steps }, () => sourceCounts.map(() => 0));
  for (const { minutes, hours } of reports) {
    const [counted, unitMinutes] = stepMinutes < hourMinutes ? [minutes, 1] : [hours, hourMinutes];
    for (const [unit, ...counts] of counted) {
      const sum = sums[Math.floor((unit * unitMinutes) / stepMinutes) - first];
      if (sum !== undefined) counts.forEach((count, index) => (sum[index] = (sum[index] ?? 0) + count));
    }
  }
  return sums.map(nameCounts);
}

/** Whether an event of the source was stored in the hours that gateways report, test events included. Pure. */
export function hasStoredEvent(reports: readonly SourceRecord[]): boolean {
  return reports.some(({ hours }) => hours.some(([, stored, test]) => stored + test > 0));
}

/** Outcomes of a source's events in all of these steps. */
export function sumCounts(steps: readonly SourceCounts[]): SourceCounts {
  return nameCounts(sourceCounts.map((name) => steps.reduce((sum, step) => sum + step[name], 0)));
}

function nameCounts(counts: readonly number[]): SourceCounts {
  const [stored = 0, test = 0, lost = 0, invalid = 0, limited = 0, forbidden = 0] = counts;
  return { stored, test, lost, invalid, limited, forbidden };
}
