import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lettersOverQuota } from './dead-letter-quota.ts';

const of = (destinationId: string, accountId: string | undefined, messages: number, meanBytes = 10) => ({
  destinationId,
  accountId,
  messages,
  meanBytes,
});

test('dead-letter quota: an account over its quota loses its oldest dead letters, and other accounts lose none', () => {
  const held = [of('a1', 'a', 80), of('a2', 'a', 10), of('b1', 'b', 20)];
  expect(lettersOverQuota(held, { capacity: 1_000, accountMax: 500 })).toEqual([{ destinationId: 'a1', keep: 36 }]);
});

test('dead-letter quota: dead letters of removed destinations are removed first, and only as many as necessary', () => {
  const held = [of('a1', 'a', 40), of('gone', undefined, 50), of('b1', 'b', 30)];
  expect(lettersOverQuota(held, { capacity: 1_000, accountMax: 500 })).toEqual([{ destinationId: 'gone', keep: 27 }]);
  expect(lettersOverQuota(held, { capacity: 1_200, accountMax: 500 })).toEqual([]);
});

test('dead-letter quota: the remaining letters fit, and an account with no more than an equal share loses none', () => {
  const letters = fc.record({
    account: fc.integer({ min: 0, max: 4 }),
    messages: fc.integer({ min: 1, max: 10_000 }),
    meanBytes: fc.integer({ min: 1, max: 5_000 }),
  });
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 20 }), fc.integer({ min: 0, max: 1e8 }), (all, capacity) => {
      const accountMax = capacity / 2;
      const held = all.map(({ account, messages, meanBytes }, index) =>
        of(`d${index}`, account === 4 ? undefined : `a${account}`, messages, meanBytes),
      );
      const keep = new Map(
        lettersOverQuota(held, { capacity, accountMax }).map((one) => [one.destinationId, one.keep]),
      );
      const left = (one: (typeof held)[number]): number =>
        (keep.get(one.destinationId) ?? one.messages) * one.meanBytes;
      expect(held.reduce((sum, one) => sum + left(one), 0)).toBeLessThanOrEqual(capacity + 1);
      for (const account of ['a0', 'a1', 'a2', 'a3']) {
        const own = held.filter(({ accountId }) => accountId === account);
        expect(own.reduce((sum, one) => sum + left(one), 0)).toBeLessThanOrEqual(accountMax + 1);
        const before = own.reduce((sum, one) => sum + one.messages * one.meanBytes, 0);
        if (before <= Math.min(accountMax, capacity / 4))
          for (const one of own) expect(keep.has(one.destinationId)).toBe(false);
      }
    }),
  );
});
