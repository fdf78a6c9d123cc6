import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { AccountShares } from './account-shares.ts';

test('account shares: an account that spent its share waits for the next round, and nobody else', async () => {
  const shares = new AccountShares(100);
  const went: string[] = [];
  shares.spend('busy', 60);
  expect(shares.mayWork('busy')).toBe(true);
  shares.spend('busy', 60);
  expect(shares.mayWork('busy')).toBe(false);
  expect(shares.mayWork('quiet')).toBe(true);
  shares.whenNextRound(() => went.push('busy'));
  expect(went).toEqual([]);
  await nextRound();
  expect(went).toEqual(['busy']);
  expect(shares.mayWork('busy')).toBe(true);
});
