import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CostBudget } from './cost-budget.ts';

function budgetAt(limits = { unitsPerMs: 10, unitsAtOnce: 100 }): { budget: CostBudget; go(ms: number): void } {
  let nowMs = 0;
  const budget = new CostBudget(limits, () => nowMs);
  return {
    budget,
    go(ms) {
      nowMs += ms;
    },
  };
}

test('cost budget: the only active account never waits', () => {
  const { budget } = budgetAt();
  for (let turn = 0; turn < 3; turn += 1) {
    budget.spend('busy', 1e9);
    expect(budget.waitMs('busy')).toBe(0);
  }
});

test('cost budget: uses its own clock if none is given', async () => {
  const budget = new CostBudget({ unitsPerMs: 1, unitsAtOnce: 1 });
  await expect
    .poll(() => {
      budget.recordActivity('quiet');
      budget.spend('busy', 1e9);
      return budget.waitMs('busy');
    })
    .toBeGreaterThan(0);
});

test('cost budget: while another account is active, an account waits until the units it spent are restored', () => {
  const { budget, go } = budgetAt();
  budget.recordActivity('quiet');
  budget.spend('busy', 300);
  expect(budget.waitMs('busy')).toBe(20);
  expect(budget.waitMs('quiet')).toBe(0);
  go(15);
  expect(budget.waitMs('busy')).toBe(5);
  go(5);
  expect(budget.waitMs('busy')).toBe(0);
});

test('cost budget: an account is not charged for what it spent while no other was active', () => {
  const { budget } = budgetAt();
  budget.spend('busy', 1e9);
  budget.recordActivity('quiet');
  expect(budget.waitMs('busy')).toBe(0);
  budget.spend('busy', 200);
  expect(budget.waitMs('busy')).toBe(10);
});

test('cost budget: no account waits for another account that has not been active for a while', () => {
  const { budget, go } = budgetAt();
  budget.recordActivity('quiet');
  budget.spend('busy', 1e9);
  go(999);
  expect(budget.waitMs('busy')).toBeGreaterThan(0);
  go(1);
  expect(budget.waitMs('busy')).toBe(0);
});

test('cost budget: an account waits while another account is active, however long ago it worked itself', () => {
  const { budget, go } = budgetAt();
  budget.recordActivity('quiet');
  budget.spend('busy', 1e9);
  go(2_000);
  budget.recordActivity('quiet');
  expect(budget.waitMs('busy')).toBeGreaterThan(0);
});

test('cost budget: a forgotten account starts with its full burst', () => {
  const { budget } = budgetAt();
  budget.recordActivity('quiet');
  budget.spend('busy', 1e9);
  budget.forget('busy');
  expect(budget.waitMs('busy')).toBe(0);
});

test('cost budget: while another account is active, an account that waits as asked spends no more than its budget', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 50 }), (pieces) => {
      const limits = { unitsPerMs: 10, unitsAtOnce: 100 };
      const { budget, go } = budgetAt(limits);
      let tookMs = 0;
      let spent = 0;
      for (const units of pieces) {
        budget.recordActivity('quiet');
        const waitMs = budget.waitMs('busy');
        expect(spent).toBeLessThanOrEqual((tookMs + waitMs) * limits.unitsPerMs + limits.unitsAtOnce + 1e-6);
        go(waitMs);
        tookMs += waitMs;
        budget.recordActivity('quiet');
        budget.spend('busy', units);
        spent += units;
      }
    }),
  );
});
