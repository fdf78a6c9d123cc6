import { meanOf } from '../result/figure.ts';
import type { Figure, Unit } from '../result/result.ts';
import type { StoredResult } from '../result/stored-result.ts';

export type Verdict = 'better' | 'worse' | 'same' | 'unknown';

/** One figure of a subject that is in both results. */
export type Comparison = {
  readonly subject: string;
  readonly figure: string;
  readonly unit: Unit;
  readonly before: number;
  readonly after: number;
  /** Confidence interval of the ratio after / before; undefined if a result has a single round. */
  readonly interval: Interval | undefined;
  readonly verdict: Verdict;
};

/** Changes smaller than this ratio count as noise, whatever the interval: 0.02 is 2 %. */
export const leastChange = 0.02;

/** Compares every figure that is in both results. */
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

/**
 * The values of the rounds. If one of the results has no values, the mean of each round's readings, for both results.
 */
function valuesOfRounds(before: Figure, after: Figure): [readonly number[], readonly number[]] {
  if (before.values !== undefined && after.values !== undefined) return [before.values, after.values];
  const means = ({ rounds }: Figure): number[] => rounds.map((round) => meanOf(round.filter(Number.isFinite)));
  return [means(before), means(after)];
}

/** Returns worse or better only if the whole interval lies on that side of 1, by more than the minimum change. */
export function judge(better: Figure['better'], interval: Interval | undefined): Verdict {
  if (interval === undefined) return 'unknown';
  const isHigher = interval.low > 1 + leastChange;
  const isLower = interval.high < 1 - leastChange;
  if (!isHigher && !isLower) return 'same';
  return isHigher === (better === 'more') ? 'better' : 'worse';
}

type Interval = { readonly low: number; readonly high: number };

/**
 * 95 % confidence interval of after / before, by Welch's t-test on the logarithms of the rounds. A round is one
 * observation, because the seconds within a round are correlated: counted separately, one slow minute would be reported
 * as a regression. Undefined if a result has a single round, or a value that is not a positive number.
 */
function ratioInterval(before: readonly number[], after: readonly number[]): Interval | undefined {
  const [one, other] = [logMeanOf(before), logMeanOf(after)];
  if (one === undefined || other === undefined) return undefined;
  const variance = one.variance + other.variance;
  const freedom = variance ** 2 / (one.variance ** 2 / one.freedom + other.variance ** 2 / other.freedom);
  const spread = variance === 0 ? 0 : studentQuantile(freedom) * Math.sqrt(variance);
  const change = other.mean - one.mean;
  return { low: Math.exp(change - spread), high: Math.exp(change + spread) };
}

/** Mean of the logarithms, the variance of that mean, and its degrees of freedom. */
type LogMean = { readonly mean: number; readonly variance: number; readonly freedom: number };

function logMeanOf(values: readonly number[]): LogMean | undefined {
  if (values.length < 2 || !values.every((value) => Number.isFinite(value) && value > 0)) return undefined;
  const logs = values.map((value) => Math.log(value));
  const freedom = logs.length - 1;
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  const squares = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0);
  return { mean, variance: squares / freedom / logs.length, freedom };
}

/** 97.5 % quantiles of Student's t for 1, 2, 3 … degrees of freedom. */
const studentQuantiles = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086,
] as const;
const leastQuantile = 2.086;

/** The quantile for `freedom` rounded down, so that intervals are slightly too wide rather than too narrow. */
function studentQuantile(freedom: number): number {
  return studentQuantiles[Math.max(1, Math.floor(freedom)) - 1] ?? leastQuantile;
}
