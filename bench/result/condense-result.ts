import type { Figure, Series } from './result.ts';
import type { StoredResult } from './stored-result.ts';

/** Quantiles of a round's readings that are kept; the first and the last are the minimum and the maximum. */
const sharesKept = [0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1];
const pointsKept = 60;
const digitsKept = 6;

/**
 * A result as it is kept: percentiles replace the readings of each round, and lines have fewer points. The values that
 * comparisons use are unchanged.
 */
export function condenseResult(result: StoredResult): StoredResult {
  return {
    ...result,
    rows: result.rows.map((row) => ({
      ...row,
      figures: Object.fromEntries(Object.entries(row.figures).map(([name, figure]) => [name, condenseFigure(figure)])),
      ...(row.series === undefined ? {} : { series: row.series.map(condenseSeries) }),
    })),
  };
}

function condenseFigure(figure: Figure): Figure {
  // An older figure has no values. It is compared by the means of its readings, which cannot be computed from
  // percentiles.
  if (figure.values === undefined) return figure;
  return { ...figure, rounds: figure.rounds.map((readings) => percentilesOf(readings).map(rounded)) };
}

function percentilesOf(readings: readonly number[]): readonly number[] {
  if (readings.length <= sharesKept.length) return readings;
  const sorted = readings.toSorted((a, b) => a - b);
  return sharesKept.map((share) => sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN);
}

function condenseSeries(series: Series): Series {
  const { points } = series;
  const step = Math.max(1, Math.ceil(points.length / pointsKept));
  // The last point is the line's final value.
  const kept = points.filter((_, index) => index % step === 0 || index === points.length - 1);
  return { ...series, points: kept.map(([atS, value]) => [rounded(atS), rounded(value)]) };
}

function rounded(value: number): number {
  return Number(value.toPrecision(digitsKept));
}
