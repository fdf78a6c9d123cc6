import { expect, test } from 'vitest';
import { Debts } from './debts.ts';

test('debts: wear off, and end at nothing', () => {
  let nowMs = 0;
  const debts = new Debts(2, () => nowMs);
  debts.add('one', 10);
  debts.add('one', 10);
  nowMs = 5;
  expect([debts.owed('one'), debts.owed('other')]).toEqual([10, 0]);
  expect(debts.waitMs('one', 4)).toBe(3);
  nowMs = 50;
  expect([debts.owed('one'), debts.waitMs('one', 0)]).toEqual([0, 0]);
});

test('debts: of many owners only those that still owe are kept', () => {
  let nowMs = 0;
  const debts = new Debts(1, () => nowMs);
  for (let owner = 0; owner < 100_000; owner += 1) {
    debts.add(String(owner), 10);
    nowMs += 1;
  }
  expect(debts.size).toBeLessThanOrEqual(1_001);
  expect(debts.owed('99999')).toBe(9);
});
