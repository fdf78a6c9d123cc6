import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { AccountShares } from './account-shares.ts';
import type { AccountShare } from './account-shares.ts';
import { CostBudget } from '../../../../shared/limits/index.ts';

const unhurried = (): CostBudget => new CostBudget({ unitsPerMs: 1, unitsAtOnce: 1e9 });

test('account shares: an account that spent its share waits for the next round, and nobody else', async () => {
  const shares = new AccountShares(100, unhurried());
  const went: string[] = [];
  const busy = shares.join('busy', () => went.push('busy'));
  const quiet = shares.join('quiet', () => went.push('quiet'));
  busy.spend(60);
  expect(busy.mayWork()).toBe(true);
  busy.spend(60);
  expect(busy.mayWork()).toBe(false);
  expect(quiet.mayWork()).toBe(true);
  busy.wait();
  expect(went).toEqual([]);
  await nextRound();
  expect(went).toEqual(['busy']);
  expect(busy.mayWork()).toBe(true);
});

test('account shares: what one of an account spends is gone for the others of it', () => {
  const shares = new AccountShares(100, unhurried());
  const [one, other] = ['one', 'other'].map(() => shares.join('busy', () => undefined));
  one?.spend(100);
  expect(other?.mayWork()).toBe(false);
});

/** Dispatchers of one account that work in each round they are let, a moment after they are told, and then wait again. */
function workers(shares: AccountShares, names: readonly string[], units: number, told: string[]): AccountShare[] {
  return names.map((name) => {
    const share: AccountShare = shares.join('busy', () => {
      told.push(name);
      void Promise.resolve().then(() => {
        share.spend(units);
        share.wait();
      });
    });
    return share;
  });
}

test('account shares: those of an account are told in turn, and no more of them than have something to spend', async () => {
  const shares = new AccountShares(100, unhurried());
  const told: string[] = [];
  for (const share of workers(shares, ['a', 'b', 'c', 'd', 'e'], 50, told)) share.wait();
  await nextRound();
  expect(told).toEqual(['a', 'b']);
  await nextRound();
  expect(told).toEqual(['a', 'b', 'c', 'd']);
  await nextRound();
  expect(told).toEqual(['a', 'b', 'c', 'd', 'e', 'a']);
});

test('account shares: all that wait are told in one round where they spend nothing', async () => {
  const shares = new AccountShares(100, unhurried());
  const told: number[] = [];
  const waiting = Array.from({ length: 50 }, (_, index) => shares.join('busy', () => told.push(index)));
  for (const share of waiting) share.wait();
  await nextRound();
  expect(told).toEqual(waiting.map((_, index) => index));
});

test('account shares: one that waits twice is told once', async () => {
  const shares = new AccountShares(100, unhurried());
  let told = 0;
  const share = shares.join('busy', () => {
    told += 1;
  });
  share.wait();
  share.wait();
  await nextRound();
  await nextRound();
  expect(told).toBe(1);
});

test('account shares: one that has ended holds up nobody behind it', async () => {
  const shares = new AccountShares(100, unhurried());
  const told: string[] = [];
  const ended = shares.join('busy', () => told.push('ended'));
  const other = shares.join('busy', () => told.push('other'));
  ended.wait();
  other.wait();
  ended.leave();
  await nextRound();
  expect(told).toEqual(['ended', 'other']);
});

test('account shares: one that is ahead of its pace is told when it may go on, and holds up nobody meanwhile', async () => {
  let nowMs = 0;
  const pace = new CostBudget({ unitsPerMs: 10, unitsAtOnce: 10 }, () => nowMs);
  const shares = new AccountShares(100, pace);
  const went: string[] = [];
  const busy = shares.join('busy', () => went.push('busy'));
  const quiet = shares.join('quiet', () => went.push('quiet'));
  quiet.spend(1);
  busy.spend(60);
  expect(busy.mayWork()).toBe(false);
  busy.wait();
  quiet.wait();
  await nextRound();
  await nextRound();
  expect(went).toEqual(['quiet']);
  nowMs = 5;
  await vi.waitUntil(() => went.length === 2);
  expect(went).toEqual(['quiet', 'busy']);
});
