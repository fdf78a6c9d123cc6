import { meanOf } from '../result/figure.ts';
import type { Figure, Unit } from '../result/result.ts';
import type { StoredResult } from '../result/stored-result.ts';
import { ratioInterval } from './ratio-interval.ts';
import type { Interval } from './ratio-interval.ts';

export type Verdict = 'better' | 'worse' | 'same' | 'unknown';

/** One figure of one subject in both results. */
export type Comparison = {
  readonly subject: string;
  readonly figure: string;
  readonly unit: Unit;
  readonly before: number;
  readonly after: number;
  /** Of after / before; undefined where a result has a single round. */
  readonly interval: Interval | undefined;
  readonly verdict: Verdict;
};

/** Changes smaller than this share are noise whatever the interval says: 0.02 is 2 %. */
export const leastChange = 0.02;

/** Every figure that both results have. */
export function compareResults(before: StoredResult, after: StoredResult): Comparison[] {
  return before.rows.flatMap((row) => {
    const other = after.rows.find(({ name }) => name === row.name);
    if (other === undefined) return [];
    return Object.entries(row.figures).flatMap(([name, figure]) => {
      const changed = other.figures[name];
      if (changed === undefined) return [];
      const interval = ratioInterval(...valuesOfRounds(figure, changed));
      return [
        {
          subject: row.name,
          figure: name,
          unit: figure.unit,
          before: figure.value,
          after: changed.value,
          interval,
          verdict: judge(figure.better, interval),
        },
      ];
    });
  });
}

/** The same kind of value of both: what rounds came to or, where an older result does not say, the mean of their readings. */
function valuesOfRounds(before: Figure, after: Figure): [readonly number[], readonly number[]] {
  if (before.values !== undefined && after.values !== undefined) return [before.values, after.values];
  const means = ({ rounds }: Figure): number[] => rounds.map((round) => meanOf(round.filter(Number.isFinite)));
  return [means(before), means(after)];
}

/** Worse or better only where the whole interval lies on that side, by more than the least change that counts. */
export function judge(better: Figure['better'], interval: Interval | undefined): Verdict {
  if (interval === undefined) return 'unknown';
  const isHigher = interval.low > 1 + leastChange;
  const isLower = interval.high < 1 - leastChange;
  if (!isHigher && !isLower) return 'same';
  return isHigher === (better === 'more') ? 'better' : 'worse';
}
