import { expect, test } from 'vitest';
import { hasSkipped, joinHealth } from './health-record.ts';
import type { HealthMinute, HealthRecord } from './health-record.ts';

const record = (...minutes: HealthMinute[]): HealthRecord => ({ v: 1, minutes, lastDispatchedAt: 7 });

test('join: a minute in both entries is counted once, with the counts of the recent entry', () => {
  const past = record([1, 5, 0, 0, 0], [3, 9, 1, 0, 0]);
  const recent = record([2, 4, 0, 0, 0], [3, 8, 1, 0, 0]);
  expect(joinHealth(past, recent)).toEqual(record([1, 5, 0, 0, 0], [2, 4, 0, 0, 0], [3, 8, 1, 0, 0]));
});

test('join: a minute that is counted in an hour already is not counted again', () => {
  const past = { ...record([9, 5, 0, 0, 0]), hours: [[0, 3, 0, 0, 0]], hoursUntil: 9 } as const;
  const joined = joinHealth(past, record([8, 3, 0, 0, 0], [9, 6, 0, 0, 0]));
  expect(joined).toEqual({ ...record([9, 6, 0, 0, 0]), hours: [[0, 3, 0, 0, 0]], hoursUntil: 9 });
});

test('join: without a past entry the recent entry is the whole window', () => {
  expect(joinHealth(undefined, record([1, 5, 0, 0, 0]))).toEqual(record([1, 5, 0, 0, 0]));
});

test('health record: a time is in a skipped range from its start until before its end, with or without a reason', () => {
  const health = { ...record(), skipped: { retention: [[10, 20, 5]] }, missed: [[40, 50, 1]] } as const;
  expect([9, 10, 19, 20, 40, 50].map((atMs) => hasSkipped(health, atMs))).toEqual([
    false,
    true,
    true,
    false,
    true,
    false,
  ]);
  expect(hasSkipped(record(), 10)).toBe(false);
});
