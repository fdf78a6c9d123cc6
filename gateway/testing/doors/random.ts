/** Random choices that depend only on a seed. */
export type Random = {
  /** 0 to `limit - 1`. */
  below(limit: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** A whole number with this many digits. */
  digits(count: number): string;
};

/** Mulberry32: the same numbers for the same seed. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    chance: (probability) => next() < probability,
    pick(items) {
      const picked = items[below(items.length)];
      if (picked === undefined) throw new Error('picking one of an empty list');
      return picked;
    },
    digits: (count) => `${1 + below(9)}${Array.from({ length: count - 1 }, () => below(10)).join('')}`,
  };
}
