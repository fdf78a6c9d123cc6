import { expect, test } from 'vitest';
import { figureOf } from '../result/figure.ts';
import type { Figure, ResultRow } from '../result/result.ts';
import { resultForTests } from '../testing/result-for-tests.ts';
import { compareDefaults, compareResults, differencesOf, judge } from './compare-results.ts';
import { createRandom } from './random.ts';

const random = createRandom(42);

/** Three rounds of ten seconds about a mean. */
function rounds(mean: number, scatter: number): { value: number; readings: number[] }[] {
  return Array.from({ length: 3 }, () => ({
    value: mean,
    readings: Array.from({ length: 10 }, () => mean * (1 + (random() - 0.5) * 2 * scatter)),
  }));
}

const row = (figure: Figure): ResultRow => ({ name: 'gateway', figures: { 'events/s': figure } });
const rate = (mean: number, scatter = 0.03): ResultRow => row(figureOf('per_s', 'more', rounds(mean, scatter)));
const verdictOf = (before: ResultRow, after: ResultRow) =>
  compareResults(resultForTests([before]), resultForTests([after]))[0]?.verdict;

test('compare: a fifth less is worse, a fifth more is better', () => {
  expect(verdictOf(rate(10_000), rate(8_000))).toBe('worse');
  expect(verdictOf(rate(8_000), rate(10_000))).toBe('better');
});

test('compare: where less is better, more is worse', () => {
  const latency = (mean: number): ResultRow => row(figureOf('ms', 'less', rounds(mean, 0.03)));
  expect(verdictOf(latency(10), latency(13))).toBe('worse');
});

test('compare: what the scatter hides is the same', () => {
  expect(verdictOf(rate(10_000, 0.5), rate(9_800, 0.5))).toBe('same');
  expect(verdictOf(rate(10_000, 0.001), rate(9_950, 0.001))).toBe('same');
});

test('compare: rounds that differ among themselves widen the interval more than their seconds do', () => {
  const uneven = figureOf(
    'per_s',
    'more',
    [8_000, 10_000, 12_000].map((mean) => ({ value: mean, readings: Array.from({ length: 10 }, () => mean) })),
  );
  const even = figureOf('per_s', 'more', rounds(9_000, 0));
  expect(verdictOf(row(uneven), row(even))).toBe('same');
});

test('compare: two readings say nothing', () => {
  const few = row(figureOf('per_s', 'more', [{ value: 5, readings: [4, Number.NaN, 6] }]));
  const [comparison] = compareResults(resultForTests([few]), resultForTests([rate(10)]));
  expect(comparison).toMatchObject({ interval: undefined, verdict: 'unknown' });
});

test('compare: the same two results are judged the same way each time', () => {
  const [before, after] = [resultForTests([rate(10_000)]), resultForTests([rate(9_000)])];
  expect(compareResults(before, after)).toEqual(compareResults(before, after));
});

test('compare: subjects and figures that only one result has are left out', () => {
  const other: ResultRow = { name: 'another', figures: {} };
  expect(compareResults(resultForTests([rate(1), other]), resultForTests([other]))).toEqual([]);
});

test('judge: an interval that touches the least change decides nothing', () => {
  const { leastChange } = compareDefaults;
  expect(judge('more', { low: 0.9, high: 0.97 }, leastChange)).toBe('worse');
  expect(judge('more', { low: 0.9, high: 0.985 }, leastChange)).toBe('same');
  expect(judge('less', { low: 1.03, high: 1.2 }, leastChange)).toBe('worse');
});

test('compare: another machine or setting is said', () => {
  const before = resultForTests([]);
  const after = resultForTests([], { settings: { connections: 64 }, isQuick: true });
  expect(differencesOf(before, after).map((text) => text.split(':')[0])).toEqual(['quick', 'settings']);
});
