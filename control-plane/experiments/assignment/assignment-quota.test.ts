import { expect, test } from 'vitest';
import { createAssignmentQuota } from './assignment-quota.ts';

test('assignment quota: an account at its limit stores no assignment, and is counted again later', async () => {
  const stored = new Map([['full', 10]]);
  let [counts, nowMs] = [0, 0];
  const quota = createAssignmentQuota({
    assignmentsMax: 10,
    async count(accountId) {
      counts += 1;
      return stored.get(accountId) ?? 0;
    },
    nowMs: () => nowMs,
  });
  expect(await Promise.all([quota.hasRoom('full'), quota.hasRoom('full'), quota.hasRoom('new')])).toEqual([
    false,
    false,
    true,
  ]);
  expect([counts, quota.unstored]).toEqual([2, 2]);
  for (let n = 0; n < 10; n += 1) quota.noteStored('new');
  expect(await quota.hasRoom('new')).toBe(false);
  stored.set('full', 9);
  expect(await quota.hasRoom('full')).toBe(false);
  nowMs = 600_000;
  // Requests do not wait for the new count; until it ends, the last count applies.
  expect(await quota.hasRoom('full')).toBe(false);
  await expect.poll(() => quota.hasRoom('full'), { timeout: 30_000 }).toBe(true);
  expect(counts).toBe(3);
});

test('assignment quota: a later count that fails does not prevent storing, and is repeated', async () => {
  let [counts, nowMs] = [0, 0];
  const quota = createAssignmentQuota({
    assignmentsMax: 1,
    count() {
      counts += 1;
      return counts === 2 ? Promise.reject(new Error('away')) : Promise.resolve(0);
    },
    nowMs: () => nowMs,
  });
  expect(await quota.hasRoom('a')).toBe(true);
  nowMs = 600_000;
  expect(await quota.hasRoom('a')).toBe(true);
  await expect.poll(async () => [await quota.hasRoom('a'), counts], { timeout: 30_000 }).toEqual([true, 3]);
  expect(await quota.hasRoom('a')).toBe(true);
  expect(counts).toBe(3);
});

test('assignment quota: a first count that fails is reported, and repeated', async () => {
  let fails = true;
  const quota = createAssignmentQuota({
    assignmentsMax: 1,
    count: () => (fails ? Promise.reject(new Error('away')) : Promise.resolve(0)),
    nowMs: () => 0,
  });
  await expect(quota.hasRoom('a')).rejects.toThrow('away');
  fails = false;
  expect(await quota.hasRoom('a')).toBe(true);
});
