import { expect, test } from 'vitest';
import { allocationBucket, bucketsInAll, rangeVariants, variantBucket } from './bucketing.ts';

// Critical values of the chi-square distribution at p = 0.001 (NIST/SEMATECH e-Handbook, section 1.3.6.7.4), by degrees
// of freedom. The ids and thus the statistics are the same in every run, so that no test fails by chance.
const criticalOf: Readonly<Record<number, number>> = { 1: 10.828, 3: 16.266, 9: 27.877, 99: 148.23 };

const visitors = 1_000_000;
const first = '018f4e2a-7c31-7b52-9d04-5a6be1c20001';
const second = '018f4e2a-7c31-7b52-9d04-5a6be1c20002';
const weights = [10, 20, 30, 40];
const variants = [
  { id: 'a', isControl: false, weight: 10 },
  { id: 'b', isControl: false, weight: 20 },
  { id: 'c', isControl: false, weight: 30 },
  { id: 'd', isControl: true, weight: null },
];
const counted = countVisitors();

test('bucketing: a million visitors fill the allocation evenly', () => {
  const perPercent = counted.allocation;
  expect(perPercent.length).toBe(100);
  expect(chiSquare(perPercent, () => visitors / 100)).toBeLessThan(critical(99));
});

test('bucketing: an allocation of 1 % includes 1 % of a million visitors', () => {
  const inside = counted.allocation[0] ?? 0;
  const observed = [inside, visitors - inside];
  expect(chiSquare(observed, (cell) => (cell === 0 ? 0.01 : 0.99) * visitors)).toBeLessThan(critical(1));
});

test('bucketing: variants get shares of a million visitors according to their weights', () => {
  const perVariant = rowSums(counted.firstBySecond);
  const expected = (cell: number): number => ((weights[cell] ?? 0) / 100) * visitors;
  expect(chiSquare(perVariant, expected)).toBeLessThan(critical(3));
});

test('bucketing: the variant in one experiment is independent of the variant in another', () => {
  expect(independence(counted.firstBySecond)).toBeLessThan(critical(9));
});

test('bucketing: whether a visitor takes part is independent of the variant', () => {
  expect(independence(counted.variantByQuarter)).toBeLessThan(critical(9));
});

test('bucketing: whether a visitor takes part in one experiment is independent of taking part in another', () => {
  expect(independence(counted.quarterByQuarter)).toBeLessThan(critical(9));
});

function countVisitors() {
  const allocation = Array.from({ length: 100 }, () => 0);
  const [firstBySecond, variantByQuarter, quarterByQuarter] = [table(), table(), table()];
  const ends = rangeVariants(variants).map(({ end }) => end);
  const variantOf = (experimentId: string, visitorId: string): number => {
    const bucket = variantBucket(experimentId, visitorId);
    return ends.findIndex((end) => bucket < end);
  };
  const quarterOf = (bucket: number): number => Math.floor((bucket * 4) / bucketsInAll);
  for (let number = 0; number < visitors; number += 1) {
    const visitorId = `visitor-${String(number)}`;
    const allocated = allocationBucket(first, visitorId);
    const variant = variantOf(first, visitorId);
    const percent = Math.floor(allocated / 100);
    allocation[percent] = (allocation[percent] ?? 0) + 1;
    firstBySecond.add(variant, variantOf(second, visitorId));
    variantByQuarter.add(variant, quarterOf(allocated));
    quarterByQuarter.add(quarterOf(allocated), quarterOf(allocationBucket(second, visitorId)));
  }
  return {
    allocation,
    firstBySecond: firstBySecond.cells,
    variantByQuarter: variantByQuarter.cells,
    quarterByQuarter: quarterByQuarter.cells,
  };
}

// A contingency table of four rows by four columns; `cells` has row after row.
function table() {
  const cells = Array.from({ length: 16 }, () => 0);
  return {
    cells,
    add(row: number, column: number): void {
      const cell = row * 4 + column;
      cells[cell] = (cells[cell] ?? 0) + 1;
    },
  };
}

function rowSums(cells: readonly number[]): number[] {
  return [0, 1, 2, 3].map((row) => cells.slice(row * 4, row * 4 + 4).reduce((sum, count) => sum + count, 0));
}

function columnSums(cells: readonly number[]): number[] {
  return [0, 1, 2, 3].map((column) => cells.reduce((sum, count, cell) => sum + (cell % 4 === column ? count : 0), 0));
}

function independence(cells: readonly number[]): number {
  const rows = rowSums(cells);
  const columns = columnSums(cells);
  return chiSquare(cells, (cell) => ((rows[Math.floor(cell / 4)] ?? 0) * (columns[cell % 4] ?? 0)) / visitors);
}

function chiSquare(observed: readonly number[], expectedOf: (cell: number) => number): number {
  return observed.reduce((sum, count, cell) => sum + (count - expectedOf(cell)) ** 2 / expectedOf(cell), 0);
}

function critical(degreesOfFreedom: number): number {
  const value = criticalOf[degreesOfFreedom];
  if (value === undefined) throw new Error(`no critical value for ${String(degreesOfFreedom)} degrees of freedom`);
  return value;
}
