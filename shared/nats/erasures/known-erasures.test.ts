import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashedVisitor } from '../../contracts/erasure-notice.ts';
import type { ErasureNotice } from '../../contracts/erasure-notice.ts';
import { KnownErasures } from './known-erasures.ts';

const key = Buffer.alloc(32, 7);
const account = 'account';

function notice(id: string, atMs: number, visitorIds: readonly string[], isAhead = false): ErasureNotice {
  const visitors = visitorIds.map((visitorId) => hashedVisitor(key, account, visitorId));
  return { v: 1, id, atMs, visitors, ...(isAhead ? { isAhead } : {}) };
}

test('known erasures: an erasure covers events of its visitor received until then, and no other events', () => {
  const known = new KnownErasures(key);
  known.take(account, notice('one', 100, ['ann', 'alias']));
  const isErased = (visitorId: string, receivedAtMs: number, of = account): boolean =>
    known.isErased(of, { visitorId, receivedAtMs });
  expect([isErased('ann', 99), isErased('alias', 100), isErased('ann', 101)]).toEqual([true, true, false]);
  expect([isErased('bob', 99), isErased('ann', 99, 'another account')]).toEqual([false, false]);
});

test('known erasures: an erasure’s final time replaces its own provisional time, and shortens no other erasure', () => {
  const known = new KnownErasures(key);
  const isErased = (receivedAtMs: number): boolean => known.isErased(account, { visitorId: 'ann', receivedAtMs });
  known.take(account, notice('one', 60_100, ['ann'], true));
  expect([isErased(60_100), isErased(60_101)]).toEqual([true, false]);
  known.take(account, notice('two', 60_200, ['ann'], true));
  known.take(account, notice('one', 100, ['ann']));
  expect([isErased(60_200), isErased(60_201)]).toEqual([true, false]);
  known.take(account, notice('two', 200, ['ann']));
  expect([isErased(200), isErased(201)]).toEqual([true, false]);
});

test('known erasures: erasures before a given time are forgotten', () => {
  const known = new KnownErasures(key);
  known.take(account, notice('one', 100, ['ann']));
  known.take(account, notice('two', 200, ['bob']));
  known.forget(150);
  const erased = ['ann', 'bob'].map((visitorId) => known.isErased(account, { visitorId, receivedAtMs: 1 }));
  expect(erased).toEqual([false, true]);
});

test('known erasures: property: an event is erased if it was received no later than a finished erasure of its visitor', () => {
  const erasure = fc.record({ visitor: fc.constantFrom('a', 'b', 'c'), atMs: fc.nat(50), ahead: fc.boolean() });
  fc.assert(
    fc.property(fc.array(erasure, { maxLength: 12 }), (erasures) => {
      const known = new KnownErasures(key);
      const last = new Map<string, number>();
      for (const [n, { visitor, atMs, ahead }] of erasures.entries()) {
        if (ahead) known.take(account, notice(`${n}`, atMs + 1_000, [visitor], true));
        known.take(account, notice(`${n}`, atMs, [visitor]));
        // A later notice with an earlier time does not replace the visitor's erasure, but a notice that was announced
        // ahead does.
        last.set(visitor, ahead ? atMs : Math.max(atMs, last.get(visitor) ?? -1));
      }
      for (const visitorId of ['a', 'b', 'c']) {
        for (let receivedAtMs = 0; receivedAtMs <= 51; receivedAtMs += 1) {
          const expected = receivedAtMs <= (last.get(visitorId) ?? -1);
          expect(known.isErased(account, { visitorId, receivedAtMs })).toBe(expected);
        }
      }
    }),
  );
});
