import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { HealthRecord } from '../../shared/contracts/health-record.ts';
import { sumHealthSteps } from './health-series.ts';

const report = (minutes: HealthRecord['minutes']): HealthRecord => ({ v: 1, minutes, lastDispatchedAt: null });

test('health series: steps begin at multiples of their length, end with now, and add up the reports of all instances', () => {
  const nowMs = 65 * 60_000;
  const reports = [
    report([
      [44, 9, 9, 9, 9],
      [45, 1, 0, 0, 0],
      [59, 1, 0, 0, 0],
      [60, 0, 2, 0, 0],
    ]),
    report([[60, 0, 0, 3, 4]]),
  ];
  expect(sumHealthSteps(reports, { nowMs, stepMinutes: 15, steps: 2 })).toEqual([
    { at: 45 * 60_000, succeeded: 2, failed: 0, stopped: 0, blocked: 0 },
    { at: 60 * 60_000, succeeded: 0, failed: 2, stopped: 3, blocked: 4 },
  ]);
});

test('health series: the counts of an hour are in the step in which the hour begins', () => {
  const hours = { ...report([[25 * 60, 1, 0, 0, 0]]), hours: [[0, 5, 6, 7, 8]] } as const;
  const steps = sumHealthSteps([hours], { nowMs: 25 * 3_600_000, stepMinutes: 360, steps: 5 });
  expect(steps.map(({ succeeded }) => succeeded)).toEqual([5, 0, 0, 0, 1]);
});

test('health series: nothing within its range is lost or counted twice', () => {
  const minute = fc.tuple(fc.integer({ min: 0, max: 299 }), fc.nat(9), fc.nat(9), fc.nat(9), fc.nat(9));
  fc.assert(
    fc.property(fc.array(minute), fc.constantFrom(1, 5, 60), (minutes, stepMinutes) => {
      const steps = sumHealthSteps([report(minutes)], { nowMs: 299 * 60_000, stepMinutes, steps: 300 / stepMinutes });
      const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
      expect(sum(steps.map(({ succeeded }) => succeeded))).toBe(sum(minutes.map(([, succeeded]) => succeeded)));
      expect(sum(steps.map(({ blocked }) => blocked))).toBe(sum(minutes.map(([, , , , blocked]) => blocked)));
    }),
  );
});
