import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AccountPace } from './account-pace.ts';

function paceAt(limits = { unitsPerMs: 10, unitsAtOnce: 100 }): { pace: AccountPace; go(ms: number): void } {
  let nowMs = 0;
  const pace = new AccountPace(limits, () => nowMs);
  return {
    pace,
    go(ms) {
      nowMs += ms;
    },
  };
}

test('account pace: an account that is alone never waits', () => {
  const { pace } = paceAt();
  pace.spend('busy', 1e9);
  expect(pace.waitMs('busy')).toBe(0);
});

test('account pace: beside another one an account waits until what it spent is worn off', () => {
  const { pace, go } = paceAt();
  pace.note('quiet');
  pace.spend('busy', 300);
  expect(pace.waitMs('busy')).toBe(20);
  expect(pace.waitMs('quiet')).toBe(0);
  go(15);
  expect(pace.waitMs('busy')).toBe(5);
  go(5);
  expect(pace.waitMs('busy')).toBe(0);
});

test('account pace: what was spent alone is not held against an account once it has company', () => {
  const { pace } = paceAt();
  pace.spend('busy', 1e9);
  pace.note('quiet');
  expect(pace.waitMs('busy')).toBe(0);
  pace.spend('busy', 200);
  expect(pace.waitMs('busy')).toBe(10);
});

test('account pace: nobody waits for one that has done nothing for a while', () => {
  const { pace, go } = paceAt();
  pace.note('quiet');
  pace.spend('busy', 1e9);
  go(999);
  expect(pace.waitMs('busy')).toBeGreaterThan(0);
  go(1);
  expect(pace.waitMs('busy')).toBe(0);
});

test('account pace: one that has gone begins anew', () => {
  const { pace } = paceAt();
  pace.note('quiet');
  pace.spend('busy', 1e9);
  pace.forget('busy');
  expect(pace.waitMs('busy')).toBe(0);
});

test('account pace: beside another one an account that waits as it is told spends no more than its pace', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 50 }), (pieces) => {
      const limits = { unitsPerMs: 10, unitsAtOnce: 100 };
      const { pace, go } = paceAt(limits);
      let tookMs = 0;
      let spent = 0;
      for (const units of pieces) {
        pace.note('quiet');
        const waitMs = pace.waitMs('busy');
        expect(spent).toBeLessThanOrEqual((tookMs + waitMs) * limits.unitsPerMs + limits.unitsAtOnce + 1e-6);
        go(waitMs);
        tookMs += waitMs;
        pace.note('quiet');
        pace.spend('busy', units);
        spent += units;
      }
    }),
  );
});
