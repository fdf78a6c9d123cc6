import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { RoundBudgets } from './round-budget.ts';
import type { RoundBudget } from './round-budget.ts';
import { CostBudget } from '../../../../shared/limits/index.ts';

const unhurried = (): CostBudget => new CostBudget({ unitsPerMs: 1, unitsAtOnce: 1e9 });

test('round budget: only an account that has spent its budget waits for the next round', async () => {
  const budgets = new RoundBudgets(100, unhurried());
  const went: string[] = [];
  const busy = budgets.join('busy', () => went.push('busy'));
  const quiet = budgets.join('quiet', () => went.push('quiet'));
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

test('round budget: the dispatchers of an account share its budget', () => {
  const budgets = new RoundBudgets(100, unhurried());
  const [one, other] = ['one', 'other'].map(() => budgets.join('busy', () => undefined));
  one?.spend(100);
  expect(other?.mayWork()).toBe(false);
});

/**
 * Dispatchers of one account that react to each notification shortly afterwards: they spend units, and wait for another
 * round.
 */
function workers(budgets: RoundBudgets, names: readonly string[], units: number, told: string[]): RoundBudget[] {
  return names.map((name) => {
    const budget: RoundBudget = budgets.join('busy', () => {
      told.push(name);
      void Promise.resolve().then(() => {
        budget.spend(units);
        budget.wait();
      });
    });
    return budget;
  });
}

test('round budget: waiting dispatchers of an account are notified in turn, as many per round as its budget allows', async () => {
  const budgets = new RoundBudgets(100, unhurried());
  const told: string[] = [];
  for (const budget of workers(budgets, ['a', 'b', 'c', 'd', 'e'], 50, told)) budget.wait();
  await nextRound();
  expect(told).toEqual(['a', 'b']);
  await nextRound();
  expect(told).toEqual(['a', 'b', 'c', 'd']);
  await nextRound();
  expect(told).toEqual(['a', 'b', 'c', 'd', 'e', 'a']);
});

test('round budget: all waiting dispatchers are notified in one round where they spend nothing', async () => {
  const budgets = new RoundBudgets(100, unhurried());
  const told: number[] = [];
  const waiting = Array.from({ length: 50 }, (_, index) => budgets.join('busy', () => told.push(index)));
  for (const budget of waiting) budget.wait();
  await nextRound();
  expect(told).toEqual(waiting.map((_, index) => index));
});

test('round budget: a dispatcher that waits twice is notified once', async () => {
  const budgets = new RoundBudgets(100, unhurried());
  let told = 0;
  const budget = budgets.join('busy', () => {
    told += 1;
  });
  budget.wait();
  budget.wait();
  await nextRound();
  await nextRound();
  expect(told).toBe(1);
});

test('round budget: a dispatcher that has ended does not delay other dispatchers', async () => {
  const budgets = new RoundBudgets(100, unhurried());
  const told: string[] = [];
  const ended = budgets.join('busy', () => told.push('ended'));
  const other = budgets.join('busy', () => told.push('other'));
  ended.wait();
  other.wait();
  ended.leave();
  await nextRound();
  expect(told).toEqual(['ended', 'other']);
});

test('round budget: an account that is ahead of its pace is notified when it may continue, and delays no other account', async () => {
  let nowMs = 0;
  const pace = new CostBudget({ unitsPerMs: 10, unitsAtOnce: 10 }, () => nowMs);
  const budgets = new RoundBudgets(100, pace);
  const went: string[] = [];
  const busy = budgets.join('busy', () => went.push('busy'));
  const quiet = budgets.join('quiet', () => went.push('quiet'));
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
