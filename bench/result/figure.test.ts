import { expect, test } from 'vitest';
import { figureOf, medianOf, ratioFigure } from './figure.ts';

test('median: is the middle value, or the mean of the two middle values', () => {
  expect([medianOf([3, 1, 2]), medianOf([4, 1, 2, 3]), medianOf([])]).toEqual([2, 2.5, Number.NaN]);
});

test('figure: is the median of its rounds, and keeps each round’s value and readings', () => {
  const rounds = [5, 1, 3].map((value) => ({ value, readings: [value, value + 1] }));
  expect(figureOf('per_s', 'more', rounds)).toMatchObject({
    value: 3,
    values: [5, 1, 3],
    rounds: [
      [5, 6],
      [1, 2],
      [3, 4],
    ],
  });
});

test('ratio: a round that only one of the two results has is left out', () => {
  expect(ratioFigure([50, 10, 52], [100, 50])).toMatchObject({ values: [0.5, 0.2] });
  expect(ratioFigure([50], [])).toMatchObject({ value: Number.NaN, values: [] });
});

test('ratio: divides values that were measured in the same round', () => {
  // In the second round everything is half as fast, so the ratio stays the same.
  expect(ratioFigure([50, 25, 52], [100, 50, 100])).toMatchObject({ value: 0.5, rounds: [[0.5], [0.5], [0.52]] });
});
