import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fairLevel, fairLimits } from './fair-share.ts';

const size = fc.integer({ min: 0, max: 1_000_000 });
const kept = (sizes: readonly number[], level: number): number =>
  sizes.reduce((total, one) => total + Math.min(one, level), 0);

test('fair level: an owner that uses little keeps it all, and the other owners get equal shares', () => {
  expect(fairLevel([10, 20, 30], 60)).toBe(Infinity);
  expect(fairLevel([10, 200, 300], 110)).toBe(50);
  expect(fairLevel([100, 200], 0)).toBe(0);
  expect(fairLevel([], 0)).toBe(Infinity);
});

test('fair level: what owners keep never exceeds the capacity, and fills it if any owner is limited', () => {
  fc.assert(
    fc.property(fc.array(size, { maxLength: 50 }), size, (sizes, capacity) => {
      const level = fairLevel(sizes, capacity);
      const total = kept(sizes, level);
      expect(total).toBeLessThanOrEqual(capacity + 1e-3);
      if (level !== Infinity) expect(total).toBeCloseTo(capacity, 3);
    }),
  );
});

test('fair level: an additional owner takes nothing from owners within an equal share', () => {
  fc.assert(
    fc.property(fc.array(size, { minLength: 1, maxLength: 50 }), fc.integer({ min: 1, max: 1e9 }), (sizes, greedy) => {
      const capacity = 1_000_000;
      const level = fairLevel([...sizes, greedy], capacity);
      const equal = capacity / (sizes.length + 1);
      expect(sizes.filter((one) => one <= equal && one > level)).toEqual([]);
    }),
  );
});

test('fair limits: a limit is set only where something has to be cut', () => {
  const held = new Map([
    ['large', new Map(Object.entries({ d1: 10, d2: 45, d3: 200 }))],
    ['within', new Map([['d4', 100]])],
    ['empty', new Map([['d5', 0]])],
  ]);
  expect(fairLimits(held, { capacity: 1_000, accountMax: 100 })).toEqual(new Map([['d3', 45]]));
  expect(fairLimits(held, { capacity: 180, accountMax: 100 })).toEqual(
    new Map([
      ['d2', 40],
      ['d3', 40],
      ['d4', 90],
    ]),
  );
});

const holdings = fc
  .array(fc.array(size, { maxLength: 8 }), { maxLength: 8 })
  .map(
    (accounts) =>
      new Map(
        accounts.map((own, account) => [
          `a${account}`,
          new Map(own.map((bytes, index) => [`a${account}-d${index}`, bytes])),
        ]),
      ),
  );

test('fair limits: everything fits, no account is over its quota, and an account within an equal share loses nothing', () => {
  fc.assert(
    fc.property(holdings, size, size, (held, capacity, accountMax) => {
      const limits = fairLimits(held, { capacity, accountMax });
      let total = 0;
      for (const own of held.values()) {
        const before = kept([...own.values()], Infinity);
        const after = [...own].reduce((left, [id, bytes]) => left + Math.min(bytes, limits.get(id) ?? Infinity), 0);
        total += after;
        expect(after).toBeLessThanOrEqual(accountMax + 1e-3);
        const equal = Math.min(accountMax, capacity / held.size);
        if (before <= equal) expect(after).toBe(before);
      }
      expect(total).toBeLessThanOrEqual(capacity + 1e-3);
    }),
  );
});
