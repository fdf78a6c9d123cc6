import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WorkBudget } from './work-budget.ts';

test('work budget: what is taken at once is free up to the burst, then it is waited for, and worn off with time', () => {
  let nowMs = 0;
  const budget = new WorkBudget({ share: 0.1, burstMs: 2_000 }, () => nowMs);
  budget.spend('a', 2_000);
  expect(budget.waitMs('a')).toBe(0);
  budget.spend('a', 300);
  expect(budget.waitMs('a')).toBeCloseTo(3_000);
  expect(budget.waitMs('b')).toBe(0);
  nowMs += 3_000;
  expect(budget.waitMs('a')).toBeCloseTo(0);
  nowMs += 20_000;
  budget.spend('a', 2_000);
  expect(budget.waitMs('a')).toBe(0);
});

test('work budget: who waits as told takes no more than the burst, one piece and the share of the time', () => {
  const pieces = fc.array(fc.record({ ms: fc.integer({ min: 0, max: 5_000 }), idleMs: fc.nat(10_000) }), {
    maxLength: 50,
  });
  fc.assert(
    fc.property(pieces, (all) => {
      let nowMs = 0;
      const limits = { share: 0.1, burstMs: 2_000 };
      const budget = new WorkBudget(limits, () => nowMs);
      let taken = 0;
      for (const { ms, idleMs } of all) {
        nowMs += idleMs + budget.waitMs('a');
        expect(taken).toBeLessThanOrEqual(limits.burstMs + nowMs * limits.share + 1e-6);
        budget.spend('a', ms);
        taken += ms;
      }
    }),
  );
});
