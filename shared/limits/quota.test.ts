import { expect, test } from 'vitest';
import { isOverQuota, keptOfQuota } from './quota.ts';

test('quota: an owner is over it above it, and then until it has clearly less', () => {
  expect([isOverQuota(100, 100, false), isOverQuota(101, 100, false)]).toEqual([false, true]);
  expect([isOverQuota(95, 100, true), isOverQuota(90, 100, true), isOverQuota(0, 0, true)]).toEqual([
    true,
    false,
    false,
  ]);
  expect(isOverQuota(keptOfQuota(100), 100, true)).toBe(false);
});
