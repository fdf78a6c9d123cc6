import { expect, test } from 'vitest';
import { isOverQuota, keptOfQuota, quotaEnv, readQuotaSettings } from './quota.ts';

test('quota: an owner that exceeds its quota counts as over it until its use falls clearly below', () => {
  expect([isOverQuota(100, 100, false), isOverQuota(101, 100, false)]).toEqual([false, true]);
  expect([isOverQuota(95, 100, true), isOverQuota(90, 100, true), isOverQuota(0, 0, true)]).toEqual([
    true,
    false,
    false,
  ]);
  expect([keptOfQuota(100), isOverQuota(keptOfQuota(100), 100, true)]).toEqual([90, false]);
});

test('quota: by default an account may fill half of each store, and all accounts together at most 70 %', () => {
  expect(readQuotaSettings({ LOG_ACCOUNT_SHARE_PERCENT: 50 })).toEqual({ account: 0.5, all: 0.7 });
  expect(quotaEnv.LOG_ACCOUNT_SHARE_PERCENT).toMatchObject({ default: 50, minimum: 1, maximum: 100 });
});
