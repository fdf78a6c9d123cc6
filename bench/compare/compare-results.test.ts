import { expect, test } from 'vitest';
import { figureOf, plainFigure } from '../result/figure.ts';
import type { Figure, ResultRow } from '../result/result.ts';
import { createRandom } from '../faults/visitors.ts';
import { resultForTests } from '../testing/result-for-tests.ts';
import { compareResults, judge } from './compare-results.ts';
import type { Verdict } from './compare-results.ts';

const random = createRandom(42);

/** A rate whose rounds scatter about `mean`; each round has ten seconds that scatter about the round's own mean. */
function rate(mean: number, scatter: number, rounds = 3): Figure {
  const about = (middle: number): number => middle * (1 + (random() - 0.5) * 2 * scatter);
  return figureOf(
    'per_s',
    'more',
    Array.from({ length: rounds }, () => {
      const value = about(mean);
      return { value, readings: Array.from({ length: 10 }, () => about(value)) };
    }),
  );
}

const row = (figure: Figure): ResultRow => ({ name: 'gateway', figures: { 'events/s': figure } });
const compare = (before: Figure, after: Figure) =>
  compareResults(resultForTests([row(before)]), resultForTests([row(after)]))[0];
const verdictOf = (before: Figure, after: Figure): Verdict | undefined => compare(before, after)?.verdict;

test('compare: a fifth less is worse, a fifth more is better', () => {
  expect(verdictOf(rate(10_000, 0.03), rate(8_000, 0.03))).toBe('worse');
  expect(verdictOf(rate(8_000, 0.03), rate(10_000, 0.03))).toBe('better');
});

test('compare: for a figure where less is better, a higher value is worse', () => {
  const latency = (...values: number[]): Figure => plainFigure('ms', 'less', values);
  expect(verdictOf(latency(10, 10.2, 9.9), latency(13, 12.9, 13.3))).toBe('worse');
});

test('compare: results that differ within the scatter, or too little to matter, count as the same', () => {
  expect(verdictOf(rate(10_000, 0.5), rate(9_800, 0.5))).toBe('same');
  expect(verdictOf(rate(10_000, 0.001), rate(9_950, 0.001))).toBe('same');
});

test.each([
  [3, 0.03],
  [3, 0.2],
  [7, 0.1],
])('compare: with %d equal rounds that scatter by %d, at most one comparison in twenty differs', (rounds, scatter) => {
  const trials = 1_000;
  let different = 0;
  for (let trial = 0; trial < trials; trial += 1) {
    if (verdictOf(rate(1_000, scatter, rounds), rate(1_000, scatter, rounds)) !== 'same') different += 1;
  }
  expect(different / trials).toBeLessThan(0.055);
});

test('compare: seven rounds nearly always show a drop by a tenth', () => {
  const trials = 200;
  let found = 0;
  for (let trial = 0; trial < trials; trial += 1) {
    if (verdictOf(rate(1_000, 0.06, 7), rate(900, 0.06, 7)) === 'worse') found += 1;
  }
  expect(found / trials).toBeGreaterThan(0.9);
});

test('compare: the confidence interval is the one computed by hand with the textbook formula', () => {
  const logs = (...values: number[]): Figure => plainFigure('ms', 'less', values.map(Math.exp));
  const { low, high } = compare(logs(1, 2, 3), logs(3, 4, 5))?.interval ?? { low: 0, high: 0 };
  // The means differ by 2, the standard error of this difference is √(1/3 + 1/3), and t for four degrees of freedom is
  // 2.776.
  expect([Math.log(low), Math.log(high)]).toEqual([expect.closeTo(-0.267, 2), expect.closeTo(4.267, 2)]);
});

test('compare: a result with one round cannot be judged, however many seconds the round has', () => {
  expect(compare(rate(5, 0.01, 1), rate(50, 0.01, 3))).toMatchObject({ interval: undefined, verdict: 'unknown' });
});

test('compare: if a result has no value per round, the mean of each round’s readings is used instead', () => {
  const { values: _left, ...older } = figureOf('per_s', 'more', [
    { value: 9, readings: [1, 3] },
    { value: 9, readings: [Number.NaN, 2.02] },
  ]);
  expect(compare(older, plainFigure('per_s', 'more', [2, 2.02]))?.interval?.low).toBeCloseTo(1, 1);
});

test('compare: subjects and figures that only one of the two results has are left out', () => {
  const other: ResultRow = { name: 'another', figures: {} };
  expect(compareResults(resultForTests([row(rate(1, 0.1)), other]), resultForTests([other]))).toEqual([]);
});

test('judge: an interval that is not wholly beyond the minimum change gets the verdict “same”', () => {
  expect(judge('more', { low: 0.9, high: 0.97 })).toBe('worse');
  expect(judge('more', { low: 0.9, high: 0.985 })).toBe('same');
  expect(judge('less', { low: 1.03, high: 1.2 })).toBe('worse');
});
