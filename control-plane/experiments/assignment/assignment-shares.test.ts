import { expect, test } from 'vitest';
import { createAssignmentShares } from './assignment-shares.ts';

test('assignment shares: an account with as many as it may have stores none, and is counted again later', async () => {
  const stored = new Map([['full', 10]]);
  let [counts, nowMs] = [0, 0];
  const shares = createAssignmentShares({
    assignmentsMax: 10,
    async count(accountId) {
      counts += 1;
      return stored.get(accountId) ?? 0;
    },
    nowMs: () => nowMs,
  });
  expect(await Promise.all([shares.hasRoom('full'), shares.hasRoom('full'), shares.hasRoom('new')])).toEqual([
    false,
    false,
    true,
  ]);
  expect([counts, shares.unstored]).toEqual([2, 2]);
  for (let n = 0; n < 10; n += 1) shares.noteStored('new');
  expect(await shares.hasRoom('new')).toBe(false);
  stored.set('full', 9);
  expect(await shares.hasRoom('full')).toBe(false);
  nowMs = 600_000;
  // No request waits for another count: the last count holds meanwhile.
  expect(await shares.hasRoom('full')).toBe(false);
  await expect.poll(() => shares.hasRoom('full'), { timeout: 30_000 }).toBe(true);
  expect(counts).toBe(3);
});

test('assignment shares: a later count that fails does not prevent storing, and is repeated', async () => {
  let [counts, nowMs] = [0, 0];
  const shares = createAssignmentShares({
    assignmentsMax: 1,
    count() {
      counts += 1;
      return counts === 2 ? Promise.reject(new Error('away')) : Promise.resolve(0);
    },
    nowMs: () => nowMs,
  });
  expect(await shares.hasRoom('a')).toBe(true);
  nowMs = 600_000;
  expect(await shares.hasRoom('a')).toBe(true);
  await expect.poll(async () => [await shares.hasRoom('a'), counts], { timeout: 30_000 }).toEqual([true, 3]);
  expect(await shares.hasRoom('a')).toBe(true);
  expect(counts).toBe(3);
});

test('assignment shares: a first count that fails is reported, and repeated', async () => {
  let fails = true;
  const shares = createAssignmentShares({
    assignmentsMax: 1,
    count: () => (fails ? Promise.reject(new Error('away')) : Promise.resolve(0)),
    nowMs: () => 0,
  });
  await expect(shares.hasRoom('a')).rejects.toThrow('away');
  fails = false;
  expect(await shares.hasRoom('a')).toBe(true);
});
