import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HashSet } from './hash-set.ts';

/** A simple reference implementation: a Map in the order of insertion. */
class NaiveSet {
  readonly #keys = new Map<string, true>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  add(key: string): void {
    if (this.#keys.size === this.#max) this.dropOldest(1);
    this.#keys.set(key, true);
  }

  dropOldest(count: number): void {
    for (const key of [...this.#keys.keys()].slice(0, count)) this.#keys.delete(key);
  }

  get size(): number {
    return this.#keys.size;
  }
}

// Few distinct halves, close together and at both ends, so that clusters, wrap-around and equal tags occur.
const half = fc.oneof(
  fc.integer({ min: 0, max: 20 }),
  fc.integer({ min: 0xfffffff0, max: 0xffffffff }),
  fc.integer({ min: 0, max: 0xffffffff }),
);
const step = fc.oneof(
  { weight: 9, arbitrary: fc.record({ high: half, low: half }) },
  { weight: 1, arbitrary: fc.record({ drop: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 1, arbitrary: fc.record({ reserve: fc.integer({ min: 1, max: 60 }) }) },
);

test('HashSet: holds what a plain map would, through growth, eviction and expiry', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 8 }),
      fc.array(step, { maxLength: 200 }),
      (max, first, steps) => {
        const set = new HashSet(max, first);
        const naive = new NaiveSet(max);
        const seen = new Set<string>();
        for (const next of steps) {
          if ('reserve' in next) {
            set.reserve(next.reserve);
            continue;
          }
          if ('drop' in next) {
            set.dropOldest(next.drop);
            naive.dropOldest(next.drop);
            continue;
          }
          const key = `${next.high} ${next.low}`;
          seen.add(key);
          expect(set.has(next.high, next.low)).toBe(naive.has(key));
          expect(set.add(next.high, next.low)).toBe(!naive.has(key));
          if (!naive.has(key)) naive.add(key);
        }
        expect(set.size).toBe(naive.size);
        for (const key of seen) {
          const [high, low] = key.split(' ').map(Number);
          expect(set.has(high ?? 0, low ?? 0)).toBe(naive.has(key));
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('HashSet: takes at most 13.1 bytes a hash when full, and starts small', () => {
  const set = new HashSet(100_000);
  expect(set.bytes).toBeLessThan(16 * 1_024);
  for (let index = 0; index < 250_000; index += 1)
    set.add(Math.imul(index, 0x9e3779b1) >>> 0, Math.imul(index, 0x85ebca6b) >>> 0);
  expect(set.size).toBe(100_000);
  expect(set.bytes / set.size).toBeLessThan(13.1);
});

test('HashSet: adding a list as a whole gives the same set as adding its hashes one by one', () => {
  const lists = fc.array(fc.array(fc.record({ high: half, low: half }), { maxLength: 60 }), { maxLength: 8 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 8 }), lists, (max, first, all) => {
      const [whole, single] = [new HashSet(max, first), new HashSet(max, first)];
      for (const list of all) {
        const hashes = Int32Array.from(list.flatMap(({ high, low }) => [high, low]));
        // The numbers before and after the range must not be added.
        const padded = Int32Array.of(1, 2, ...hashes, 3, 4);
        whole.addAll(padded, 1, list.length + 1);
        for (const { high, low } of list) single.add(high, low);
        expect([whole.size, whole.added]).toEqual([single.size, single.added]);
        for (const { high, low } of all.flat()) expect(whole.has(high, low)).toBe(single.has(high, low));
      }
    }),
  );
});
