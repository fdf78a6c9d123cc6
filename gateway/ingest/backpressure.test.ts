import fc from 'fast-check';
import { expect, test } from 'vitest';
import { heldBack } from './backpressure.ts';

const report = (accounts: [string, number][], resolve?: { ageMs: number; ageMaxMs: number }) => ({
  v: 1 as const,
  accounts,
  ...(resolve === undefined ? {} : { resolve }),
});

test('held back: nobody where nothing waits for too long, whoever sends how much', () => {
  expect(heldBack([], [{ accountId: 'a', taken: 1e6 }]).size).toBe(0);
});

test('held back: accounts pipelines name, each by its longest wait', () => {
  const held = heldBack([report([['a', 100]]), report([['a', 300], ['b', 200]])], [{ accountId: 'c', taken: 1e6 }]); // prettier-ignore
  expect([...held]).toEqual([
    ['a', 300],
    ['b', 200],
  ]);
});

test('held back: where the resolver is late, who sends much and not who sends little', () => {
  const taken = [
    { accountId: 'quiet', taken: 10 },
    { accountId: 'loud', taken: 10_000 },
  ];
  expect([...heldBack([report([], { ageMs: 100, ageMaxMs: 100 })], taken).keys()]).toEqual(['loud']);
  expect([...heldBack([report([], { ageMs: 4_000, ageMaxMs: 100 })], taken).keys()]).toEqual(['loud']);
});

test('held back: the later the resolver the less is let in, and never an account that sent more than one that is not', () => {
  const shares = fc.uniqueArray(fc.record({ accountId: fc.uuid(), taken: fc.nat(10_000) }), {
    selector: ({ accountId }) => accountId,
  });
  fc.assert(
    fc.property(shares, fc.integer({ min: 1, max: 100 }), (taken, times) => {
      const held = heldBack([report([], { ageMs: 100 * times, ageMaxMs: 100 })], taken);
      const all = taken.reduce((sum, share) => sum + share.taken, 0);
      const others = taken.filter(({ accountId }) => !held.has(accountId));
      expect(others.reduce((sum, share) => sum + share.taken, 0)).toBeLessThanOrEqual(all / 2 / times + 1e-9);
      const least = Math.min(...taken.filter(({ accountId }) => held.has(accountId)).map((share) => share.taken));
      for (const share of others) expect(share.taken).toBeLessThanOrEqual(least);
    }),
  );
});
