import fc from 'fast-check';
import { expect, test } from 'vitest';
import { accountGroups, groupOf } from '../../../shared/contracts/events/event-hash.ts';
import { HashSet } from './hash-set.ts';

/** A simple reference implementation: the hashes of each group in a Map, in the order of insertion. */
class NaiveSet {
  readonly #groups = Array.from({ length: accountGroups }, () => new Map<string, number>());
  readonly #max: number;
  evictedStep = -Infinity;

  constructor(max: number) {
    this.#max = max;
  }

  has(high: number, low: number): boolean {
    return this.#groupOf(low).has(`${high} ${low}`);
  }

  add(high: number, low: number, step: number): boolean {
    if (this.has(high, low)) return false;
    if (this.size === this.#max) {
      const largest = Math.max(...this.sizes);
      const own = this.#groupOf(low);
      const group = own.size === largest ? own : this.#groups.find(({ size }) => size === largest);
      for (const [key, step] of [...(group ?? [])].slice(0, 1)) {
        this.evictedStep = Math.max(this.evictedStep, step);
        group?.delete(key);
      }
    }
    this.#groupOf(low).set(`${high} ${low}`, step);
    return true;
  }

  keepFrom(from: number): void {
    for (const group of this.#groups) {
      for (const [key, step] of group) if (step < from) group.delete(key);
    }
  }

  get sizes(): number[] {
    return this.#groups.map(({ size }) => size);
  }

  get size(): number {
    return this.sizes.reduce((sum, size) => sum + size, 0);
  }

  #groupOf(low: number): Map<string, number> {
    return this.#groups[groupOf(low)] ?? new Map();
  }
}

// Few distinct halves, close together and at both ends, so that clusters, wrap-around and equal tags occur.
const half = fc.oneof(
  fc.integer({ min: 0, max: 20 }),
  fc.integer({ min: 0xfffffff0, max: 0xffffffff }),
  fc.integer({ min: 0, max: 0xffffffff }),
);
/** Low halves of which half are in one group. */
const lowHalf = fc.oneof(
  half,
  fc.nat(100).map((number) => number * accountGroups),
);
const hash = fc.record({ high: half, low: lowHalf });
const step = fc.oneof(
  { weight: 12, arbitrary: hash },
  { weight: 1, arbitrary: fc.record({ later: fc.integer({ min: 1, max: 150 }) }) },
  { weight: 1, arbitrary: fc.record({ reserve: fc.integer({ min: 1, max: 60 }) }) },
);
const stepsKept = 255;

test('HashSet: holds what plain maps would, through growth, eviction and expiry', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 1, max: 64 }),
      fc.array(step, { maxLength: 300, size: 'max' }),
      (max, first, steps) => {
        const set = new HashSet(max, first);
        const naive = new NaiveSet(max);
        const seen: { readonly high: number; readonly low: number }[] = [];
        // Compared at the end: an expectation for each of 150,000 answers takes seconds.
        const [answers, right]: [boolean[], boolean[]] = [[], []];
        // Numbers of steps may have more than 32 bits.
        let now = 2 ** 40;
        set.keepFrom(now - stepsKept);
        for (const next of steps) {
          if ('reserve' in next) {
            set.reserve(next.reserve);
            continue;
          }
          if ('later' in next) {
            now += next.later;
            set.keepFrom(now - stepsKept);
            naive.keepFrom(now - stepsKept);
            continue;
          }
          const { high, low } = next;
          seen.push(next);
          answers.push(set.has(high, low), set.add(high, low, now));
          right.push(naive.has(high, low), naive.add(high, low, now));
        }
        for (const { high, low } of seen) {
          answers.push(set.has(high, low));
          right.push(naive.has(high, low));
        }
        expect(answers).toEqual(right);
        expect([set.size, set.evictedStep]).toEqual([naive.size, naive.evictedStep]);
      },
    ),
    { numRuns: 500 },
  );
});

/** Spread hashes, in as many groups as given. */
const spread = (index: number, groups: number) => ({
  high: Math.imul(index, 0x9e3779b1) >>> 0,
  low: (Math.imul(index, 0x85ebca6b) & -accountGroups) + (index % groups),
});

test.each([1, accountGroups])(
  'HashSet: takes at most 13 bytes a hash when full of %i groups, and starts small',
  (groups) => {
    const sizeMax = 31_250;
    const set = new HashSet(sizeMax);
    expect(set.bytes).toBeLessThan(16 * 1_024);
    for (let index = 0; index < 100_000; index += 1) {
      const { high, low } = spread(index, groups);
      set.add(high, low, 1);
    }
    expect(set.size).toBe(sizeMax);
    expect(set.bytes / set.size).toBeLessThan(13);
  },
);

test('HashSet: a hash is forgotten only while no group has more of them', () => {
  const rounds = fc.array(fc.record({ group: fc.nat(accountGroups - 1), count: fc.nat(3_000) }), { maxLength: 12 });
  fc.assert(
    fc.property(rounds, (all) => {
      const sizeMax = 4_000;
      const set = new HashSet(sizeMax);
      let index = 0;
      const added = new Map<number, { readonly high: number; readonly low: number }[]>();
      for (const { group, count } of all) {
        const hashes = added.get(group) ?? [];
        added.set(group, hashes);
        for (let left = count; left > 0; left -= 1) {
          index += 1;
          const { high, low } = spread(index, 1);
          hashes.push({ high, low: low + group });
          set.add(high, low + group, 1);
        }
      }
      // The fewest hashes that a group keeps, if it has added as many: what the others leave of the set, in equal parts.
      const kept = [...added].map(([group, hashes]) => {
        const known = hashes.map(({ high, low }) => set.has(high, low));
        const size = known.filter(Boolean).length;
        expect(known.lastIndexOf(false)).toBeLessThan(hashes.length - size);
        return { group, size, added: hashes.length };
      });
      expect(set.size).toBe(Math.min(sizeMax, index));
      const fewest = sizeMax / Math.max(1, added.size);
      for (const { size, added } of kept) expect(size).toBeGreaterThanOrEqual(Math.min(added, Math.floor(fewest)));
    }),
    { numRuns: 50 },
  );
});

test('HashSet: adding a list as a whole gives the same set as adding its hashes one by one', () => {
  const lists = fc.array(fc.array(hash, { maxLength: 60 }), { maxLength: 8 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 8 }), lists, (max, first, all) => {
      const [whole, single] = [new HashSet(max, first), new HashSet(max, first)];
      for (const [step, list] of all.entries()) {
        const hashes = Int32Array.from(list.flatMap(({ high, low }) => [high, low]));
        // The numbers before and after the range must not be added.
        const padded = Int32Array.of(1, 2, ...hashes, 3, 4);
        whole.addAll(padded, 1, list.length + 1, step);
        for (const { high, low } of list) single.add(high, low, step);
        expect([whole.size, whole.evictedStep]).toEqual([single.size, single.evictedStep]);
        for (const { high, low } of all.flat()) expect(whole.has(high, low)).toBe(single.has(high, low));
      }
    }),
  );
});
