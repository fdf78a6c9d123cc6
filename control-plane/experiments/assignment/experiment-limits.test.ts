import { expect, test } from 'vitest';
import { createExperimentLimits } from './experiment-limits.ts';

const rates = { lookups: 2, assignments: 1, impressions: 5, work: 1_000, pageWorkMax: 1_500 };

test('experiment limits: only an account that used up its rate is refused, and the account is served again a second later', () => {
  const limits = createExperimentLimits(rates);
  const spendAll = (accountId: string, nowMs: number): number => {
    let spent = 0;
    try {
      for (; spent < 100; spent += 1) limits.spend('lookups', accountId, nowMs);
    } catch (error) {
      expect(error).toMatchObject({
        status: 429,
        message: expect.stringContaining('experiments: lookups, 2 per second'),
      });
    }
    return spent;
  };
  expect([spendAll('a', 0), spendAll('a', 0), spendAll('b', 0)]).toEqual([4, 0, 4]);
  expect(() => limits.spend('assignments', 'a', 0)).not.toThrow();
  expect(spendAll('a', 1_000)).toBe(2);
  expect(limits.refused).toEqual({ lookups: 4, assignments: 0, impressions: 0, work: 0, page: 0 });
});

test('experiment limits: a page that costs too much by itself is refused, and its account still pays for the work done', () => {
  const limits = createExperimentLimits(rates);
  const look = (accountId: string, units: number, nowMs: number): string =>
    limits.look(accountId, nowMs, (work) => {
      work.spend(units);
      return 'seen';
    });
  expect(look('a', 1_500, 0)).toBe('seen');
  expect(() => look('a', 1_501, 0)).toThrow(
    expect.objectContaining({ status: 400, message: expect.stringContaining('1500 units') }),
  );
  // The account may use 2,000 units at once and 1,000 per second, so 3,001 units are paid slightly more than a second
  // later.
  expect(() => look('a', 1, 1_000)).toThrow(
    expect.objectContaining({ status: 429, message: expect.stringContaining('experiments: work, 1000 per second') }),
  );
  expect(look('b', 1, 1_000)).toBe('seen');
  expect(look('a', 1, 1_002)).toBe('seen');
  expect(limits.refused).toMatchObject({ work: 1, page: 1 });
});

test('experiment limits: an error of the limited work is thrown unchanged', () => {
  const failure = new Error('a bug');
  const look = () =>
    createExperimentLimits(rates).look('a', 0, () => {
      throw failure;
    });
  expect(look).toThrow(failure);
});
