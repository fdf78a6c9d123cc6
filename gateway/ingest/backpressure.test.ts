import fc from 'fast-check';
import { expect, test } from 'vitest';
import { heldBack, queuedBytes } from './backpressure.ts';

const report = (accounts: [string, number][], resolve?: { ageMs: number; ageMaxMs: number }) => ({
  v: 1 as const,
  accounts,
  ...(resolve === undefined ? {} : { resolve }),
});

test('held back: unless a pipeline reports long waits, no account is held back, however many bytes it has waiting', () => {
  expect(heldBack([], new Map([['a', 1e6]])).size).toBe(0);
});

test('held back: the accounts that pipelines report are held back, each with its longest wait', () => {
  const held = heldBack([report([['a', 100]]), report([['a', 300], ['b', 200]])], new Map([['c', 1e6]])); // prettier-ignore
  expect([...held]).toEqual([
    ['a', 300],
    ['b', 200],
  ]);
});

test('held back: when the resolver is late, an account with many bytes in INGEST is held back; an account with few is not', () => {
  const waiting = new Map([
    ['quiet', 10],
    ['loud', 10_000],
  ]);
  expect([...heldBack([report([], { ageMs: 100, ageMaxMs: 100 })], waiting).keys()]).toEqual(['loud']);
  expect([...heldBack([report([], { ageMs: 4_000, ageMaxMs: 100 })], waiting).keys()]).toEqual(['loud']);
});

test('held back: the later the resolver, the fewer bytes are admitted, and admitted accounts never have more than held-back ones', () => {
  const held = fc.uniqueArray(fc.tuple(fc.uuid(), fc.nat(10_000)), { selector: ([accountId]) => accountId });
  fc.assert(
    fc.property(held, fc.integer({ min: 1, max: 100 }), (sizes, times) => {
      const refused = heldBack([report([], { ageMs: 100 * times, ageMaxMs: 100 })], new Map(sizes));
      const all = sizes.reduce((sum, [, bytes]) => sum + bytes, 0);
      const others = sizes.filter(([accountId]) => !refused.has(accountId));
      expect(others.reduce((sum, [, bytes]) => sum + bytes, 0)).toBeLessThanOrEqual(all / 2 / times + 1e-9);
      const least = Math.min(...sizes.filter(([accountId]) => refused.has(accountId)).map(([, bytes]) => bytes));
      for (const [, bytes] of others) expect(bytes).toBeLessThanOrEqual(least);
    }),
  );
});

test('queued bytes: an account’s bytes are added up over the partitions of all pipelines; earlier versions report none', () => {
  const of = (queued: [string, number][]) => ({ ...report([]), queued });
  const reports = [report([['a', 100]]), of([['a', 300], ['b', 200]]), of([['a', 7]])]; // prettier-ignore
  expect([...queuedBytes(reports)]).toEqual([
    ['a', 307],
    ['b', 200],
  ]);
});
