import fc from 'fast-check';
import { expect, test } from 'vitest';
import { heldBack, queuedBytes } from './backpressure.ts';

const report = (accounts: [string, number][], resolve?: { ageMs: number; ageMaxMs: number }) => ({
  v: 1 as const,
  accounts,
  ...(resolve === undefined ? {} : { resolve }),
});

test('held back: without a report of long waits, no account is held back, however much it has waiting', () => {
  expect(heldBack([], new Map([['a', 1e6]])).size).toBe(0);
});

test('held back: the accounts that pipelines report, each with its longest wait', () => {
  const held = heldBack([report([['a', 100]]), report([['a', 300], ['b', 200]])], new Map([['c', 1e6]])); // prettier-ignore
  expect([...held]).toEqual([
    ['a', 300],
    ['b', 200],
  ]);
});

test('held back: when the resolver is late, an account with much in INGEST is held back, and one with little is not', () => {
  const waiting = new Map([
    ['quiet', 10],
    ['loud', 10_000],
  ]);
  expect([...heldBack([report([], { ageMs: 100, ageMaxMs: 100 })], waiting).keys()]).toEqual(['loud']);
  expect([...heldBack([report([], { ageMs: 4_000, ageMaxMs: 100 })], waiting).keys()]).toEqual(['loud']);
});

test('held back: the later the resolver, the fewer bytes are let in, and no account let in has more bytes than one held back', () => {
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

test('queued bytes: those of an account in the partitions of several pipelines add up; earlier versions report none', () => {
  const of = (queued: [string, number][]) => ({ ...report([]), queued });
  const reports = [report([['a', 100]]), of([['a', 300], ['b', 200]]), of([['a', 7]])]; // prettier-ignore
  expect([...queuedBytes(reports)]).toEqual([
    ['a', 307],
    ['b', 200],
  ]);
});
