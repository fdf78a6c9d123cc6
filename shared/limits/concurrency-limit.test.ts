import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ConcurrencyLimit } from './concurrency-limit.ts';

test('concurrency limit: one owner cannot exceed its limit, all owners together cannot exceed the total, and released units are available again', () => {
  const limit = new ConcurrencyLimit({ max: 10, ofOwnerMax: 6 });
  expect([limit.take('a', 6), limit.take('a'), limit.take('b', 5), limit.take('b', 4)]).toEqual([
    true,
    false,
    false,
    true,
  ]);
  expect([limit.total, limit.usedBy('a'), limit.usedBy('c')]).toEqual([10, 6, 0]);
  limit.release('a', 4);
  expect([limit.take('a', 5), limit.take('a', 4), limit.take('b')]).toEqual([false, true, false]);
  limit.release('a', 6);
  limit.release('b', 4);
  expect([limit.total, limit.size, limit.take('a', 6), limit.refused]).toEqual([0, 0, true, 4]);
});

test('concurrency limit: units taken at a cost that was known too late count, beyond the limit too', () => {
  const limit = new ConcurrencyLimit({ max: 10, ofOwnerMax: 6 });
  expect([limit.hasRoom('a', 6), limit.hasRoom('a', 7)]).toEqual([true, false]);
  limit.charge('a', 7);
  expect([limit.usedBy('a'), limit.total, limit.take('a'), limit.hasRoom('b', 4)]).toEqual([7, 7, false, false]);
  limit.release('a', 7);
  expect([limit.size, limit.take('b', 4)]).toEqual([0, true]);
});

test('concurrency limit: no sequence of takes and releases exceeds a limit or loses a unit', () => {
  const step = fc.record({ owner: fc.constantFrom('a', 'b', 'c'), amount: fc.integer({ min: 1, max: 4 }) });
  fc.assert(
    fc.property(fc.array(fc.tuple(step, fc.boolean()), { maxLength: 100 }), (steps) => {
      const limit = new ConcurrencyLimit({ max: 10, ofOwnerMax: 5 });
      const held: { owner: string; amount: number }[] = [];
      for (const [one, isRelease] of steps) {
        const oldest = isRelease ? held.shift() : undefined;
        if (oldest !== undefined) limit.release(oldest.owner, oldest.amount);
        else if (limit.take(one.owner, one.amount)) held.push(one);
        const of = (owner?: string) =>
          held.reduce((sum, { owner: holder, amount }) => sum + (holder === (owner ?? holder) ? amount : 0), 0);
        expect(limit.total).toBe(of());
        expect(limit.total).toBeLessThanOrEqual(10);
        for (const owner of ['a', 'b', 'c']) {
          expect(limit.usedBy(owner)).toBe(of(owner));
          expect(limit.usedBy(owner)).toBeLessThanOrEqual(5);
        }
      }
    }),
  );
});
