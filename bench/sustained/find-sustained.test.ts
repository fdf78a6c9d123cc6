import { expect, test } from 'vitest';
import { describeTrials, findSustained } from './find-sustained.ts';

const search = (limitPerS: number, guessPerS: number, steps: number) =>
  findSustained({ guessPerS, steps, holds: (ratePerS) => Promise.resolve(ratePerS <= limitPerS) });

test.each([
  [1_000, 1_000],
  [1_000, 400],
  [1_000, 3_000],
])('sustained: with a limit of %d and a first guess of %d, finds a rate just below the limit', async (limit, guess) => {
  const { ratePerS } = await search(limit, guess, 8);
  expect(ratePerS).toBeLessThanOrEqual(limit);
  expect(ratePerS).toBeGreaterThan(limit * 0.85);
});

test('sustained: the rate is 0 if no trial holds, and every trial is listed', async () => {
  const { ratePerS, trials } = await search(0, 1_000, 3);
  expect(ratePerS).toBe(0);
  expect(trials.map(({ isHeld }) => isHeld)).toEqual([false, false, false]);
});

test('sustained: trials are reported round by round', () => {
  const rounds = [
    [
      { ratePerS: 900, isHeld: true },
      { ratePerS: 12_400, isHeld: false },
    ],
    [{ ratePerS: 450, isHeld: true }],
  ];
  expect(describeTrials(rounds)).toBe('tried, in thousands: 0.9✓ 12✗; 0.5✓');
});
