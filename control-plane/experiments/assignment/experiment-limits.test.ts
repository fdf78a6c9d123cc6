import { expect, test } from 'vitest';
import { createExperimentLimits } from './experiment-limits.ts';

test('experiment limits: an account that has spent its share is refused alone, and has more a second later', () => {
  const limits = createExperimentLimits({ lookups: 2, assignments: 1, impressions: 5 });
  const spendAll = (accountId: string, nowMs: number): number => {
    let spent = 0;
    try {
      for (; spent < 100; spent += 1) limits.spend('lookups', accountId, nowMs);
    } catch (error) {
      expect(error).toMatchObject({
        status: 429,
        message: expect.stringContaining('lookups of experiments, 2 a second'),
      });
    }
    return spent;
  };
  expect([spendAll('a', 0), spendAll('a', 0), spendAll('b', 0)]).toEqual([4, 0, 4]);
  expect(() => limits.spend('assignments', 'a', 0)).not.toThrow();
  expect(spendAll('a', 1_000)).toBe(2);
  expect(limits.refused).toEqual({ lookups: 4, assignments: 0, impressions: 0 });
});
