import { expect, test } from 'vitest';
import { noPercentiles } from '../load/load-recorder.ts';
import { backlogOf, deliveredShareOf, guessSustained } from './paced-run.ts';

const window = (atS: number, acceptedPerS: number, perSecond = acceptedPerS) => ({
  ...noPercentiles,
  atS,
  perSecond,
  acceptedPerS,
});
/** 50 requests accepted in the warm-up, then 100 in the first second and 200 in the second. */
const load = { acceptedInAll: 350, byStatus: { 200: 300 }, windows: [window(1, 100), window(2, 200)] };

test('backlog: is the number of accepted events minus the delivered events, including the warm-up', () => {
  const delivered = [
    [0, 40],
    [0.5, 90],
    [1, 120],
    [2, 350],
  ] as const;
  expect(backlogOf(delivered, load, 1)).toEqual([
    [0, 10],
    [0.5, 10],
    [1, 30],
    [2, 0],
  ]);
});

test('backlog: counts events instead of requests, and is never negative', () => {
  const delivered = [
    [1, 1_400],
    [1.5, 3_000],
    [9, 3_400],
  ] as const;
  expect(backlogOf(delivered, load, 10)).toEqual([
    [1, 100],
    [1.5, 0],
    [9, 100],
  ]);
});

test('backlog and delivered share: refused requests are not accepted events', () => {
  const refusing = { ...load, windows: [window(1, 100, 900), window(2, 200, 900)] };
  expect(backlogOf([[2, 300]], refusing, 1)).toEqual([[2, 50]]);
  expect(deliveredShareOf([[2, 175]], refusing, 1)).toBe(0.5);
});

test('delivered share: counts the events of the warm-up on both sides, so a backlog worked off does not exceed 1', () => {
  expect(
    deliveredShareOf(
      [
        [1, 150],
        [2, 350],
      ],
      load,
      1,
    ),
  ).toBe(1);
  expect(deliveredShareOf([[1, 1_200]], load, 10)).toBe(0.8);
  expect(deliveredShareOf([], load, 1)).toBeNaN();
});

test('guess: is the delivered rate, or a fraction of the accepted rate if accepting events starved the deliveries', () => {
  expect(guessSustained({ deliveredPerS: 4_000, load: { answersPerS: 8_000 } }, 1)).toBe(4_000);
  expect(guessSustained({ deliveredPerS: 3, load: { answersPerS: 80 } }, 500)).toBe(10_000);
});
