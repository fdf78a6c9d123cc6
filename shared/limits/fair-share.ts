/**
 * The amount that each owner may keep so that the sum fits into `capacity` (max-min fairness): an owner with less keeps
 * everything, the others keep exactly this amount. Infinity if everything fits.
 *
 * ```ts
 * fairLevel([10, 200, 300], 110); // 50: the first keeps 10, the others 50 each
 * ```
 */
export function fairLevel(sizes: readonly number[], capacity: number): number {
  const rising = sizes.toSorted((a, b) => a - b);
  let left = Math.max(0, capacity);
  for (const [index, size] of rising.entries()) {
    const level = left / (rising.length - index);
    if (size > level) return level;
    left -= size;
  }
  return Infinity;
}

/** Use of a store: bytes by account and destination. */
type Holdings = ReadonlyMap<string, ReadonlyMap<string, number>>;

type StoreLimits = {
  /** Bytes of all accounts together. */
  readonly capacity: number;
  /** Bytes of one account, even if the others leave room. */
  readonly accountMax: number;
};

/**
 * The bytes that each destination may keep; a destination that may keep everything has no entry. The capacity is
 * divided among accounts first, then among the destinations of each account that is over its quota. Pure.
 */
export function fairLimits(holdings: Holdings, { capacity, accountMax }: StoreLimits): ReadonlyMap<string, number> {
  const sums = Array.from(holdings.values(), (own) => sum(own.values()));
  const level = Math.min(accountMax, fairLevel(sums, capacity));
  const limits = new Map<string, number>();
  for (const own of holdings.values()) {
    const each = fairLevel([...own.values()], level);
    for (const [destination, size] of own) if (size > each) limits.set(destination, each);
  }
  return limits;
}

function sum(sizes: Iterable<number>): number {
  let total = 0;
  for (const size of sizes) total += size;
  return total;
}
