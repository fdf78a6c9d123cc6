import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashedVisitor } from '../../contracts/erasure-notice.ts';
import { KnownWithdrawals } from './known-withdrawals.ts';

const key = Buffer.alloc(32, 7);
const account = 'account';

function say(known: KnownWithdrawals, visitorId: string, words: Readonly<Record<string, boolean>>, atMs: number): void {
  known.take(account, { v: 1, changes: [{ visitors: [hashedVisitor(key, account, visitorId)], words, atMs }] });
}

const later = 1_000_000;
const isDenied = (known: KnownWithdrawals, visitorId: string, name = 'ads', receivedAtMs = later): boolean =>
  known.lastWords(account, { visitorId, receivedAtMs })?.get(name)?.isDenial === true;

test('known withdrawals: a denial applies only to its own visitor, consent name and account', () => {
  const known = new KnownWithdrawals(key);
  say(known, 'ann', { ads: false }, 100);
  expect([isDenied(known, 'ann'), isDenied(known, 'ann', 'stats'), isDenied(known, 'bob')]).toEqual([
    true,
    false,
    false,
  ]);
  expect(known.lastWords('other', { visitorId: 'ann', receivedAtMs: later })).toBeUndefined();
});

test('known withdrawals: property: the newest consent decides, in whatever order it arrives, and a denial wins at equal times', () => {
  const word = fc.record({ granted: fc.boolean(), atMs: fc.integer({ min: 1, max: 6 }) });
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), (words) => {
      const known = new KnownWithdrawals(key);
      say(known, 'ann', { ads: false }, 0);
      for (const { granted, atMs } of words) say(known, 'ann', { ads: granted }, atMs);
      const newestMs = Math.max(0, ...words.map(({ atMs }) => atMs));
      const last = words.filter(({ atMs }) => atMs === newestMs);
      expect(isDenied(known, 'ann')).toBe(last.length === 0 || last.some(({ granted }) => !granted));
    }),
  );
});

test('known withdrawals: a grant without an earlier denial uses no memory', () => {
  const known = new KnownWithdrawals(key, 1);
  say(known, 'ann', { ads: false }, 100);
  for (let n = 0; n < 10; n += 1) say(known, `visitor-${n}`, { ads: true }, 200 + n);
  expect(isDenied(known, 'ann')).toBe(true);
  expect(isDenied(known, 'ann', 'ads', 50)).toBe(true);
});

test('known withdrawals: if a denial is forgotten, every event received until then counts as denied, and no later event', () => {
  const known = new KnownWithdrawals(key, 2);
  for (const [n, visitor] of ['ann', 'bob', 'eve'].entries()) say(known, visitor, { ads: false }, 100 + n);
  expect([isDenied(known, 'ann'), isDenied(known, 'bob'), isDenied(known, 'eve')]).toEqual([false, true, true]);
  expect(isDenied(known, 'other', 'ads', 100)).toBe(true);
  expect(isDenied(known, 'other', 'ads', 101)).toBe(false);
});

test('known withdrawals: if notices left the stream, every event received until then counts as denied, and no later event', () => {
  const known = new KnownWithdrawals(key);
  known.forgetUntil(100);
  expect([isDenied(known, 'ann', 'ads', 100), isDenied(known, 'ann', 'ads', 101)]).toEqual([true, false]);
});

test('known withdrawals: if notices of one account left the stream, only its events received until then count as denied', () => {
  const known = new KnownWithdrawals(key);
  known.forgetUntil(100, account);
  known.forgetUntil(50, account);
  expect([isDenied(known, 'ann', 'ads', 100), isDenied(known, 'ann', 'ads', 101)]).toEqual([true, false]);
  expect(known.lastWords('other', { visitorId: 'ann', receivedAtMs: 100 })).toBeUndefined();
});
