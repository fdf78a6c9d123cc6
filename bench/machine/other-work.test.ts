import { expect, test } from 'vitest';
import { describeOtherWork, takenShare } from './other-work.ts';

const core = (user: number, idle: number) => ({ times: { user, nice: 0, sys: 0, idle, irq: 0 } });

test('other work: is the share of all cores that was not idle', () => {
  expect(takenShare([core(100, 900), core(0, 1_000)], [core(600, 1_400), core(0, 2_000)])).toBeCloseTo(0.25);
});

test('other work: is 0 where no time was counted', () => {
  expect(takenShare([core(1, 1)], [core(1, 1)])).toBe(0);
});

test('other work: is reported for a busy machine, but not for a quiet one', () => {
  expect([describeOtherWork(undefined), describeOtherWork(0.04)]).toEqual([undefined, undefined]);
  expect(describeOtherWork(0.83)).toContain('83 % of the cores');
});
