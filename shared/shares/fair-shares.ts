/**
 * What each of several may keep so that all of it fits into `capacity`: who has less keeps all of it, and the others keep
 * as much as each other (max-min fairness). Infinity where everything fits. So whoever has little is never asked to give
 * way to one who has much.
 */
export function fairLevel(sizes: readonly number[], capacity: number): number {
  const rising = sizes.filter((size) => size > 0).toSorted((a, b) => a - b);
  let left = Math.max(0, capacity);
  for (const [index, size] of rising.entries()) {
    const level = left / (rising.length - index);
    if (size > level) return level;
    left -= size;
  }
  return Infinity;
}

/** What an account holds of a store, by whom: by destination, in bytes. */
export type Holdings = ReadonlyMap<string, ReadonlyMap<string, number>>;

export type ShareLimits = {
  /** What all may have together. */
  readonly capacity: number;
  /** What one account may have, even where the others leave room. */
  readonly accountMax: number;
};

/**
 * What each destination may keep, in bytes, where that is less than it has: first accounts are held to their share, then
 * the destinations of an account that is over it. Pure.
 */
export function limitsOf(holdings: Holdings, { capacity, accountMax }: ShareLimits): ReadonlyMap<string, number> {
  const sums = new Map([...holdings].map(([account, own]) => [account, sum(own.values())]));
  const level = Math.min(accountMax, fairLevel([...sums.values()], capacity));
  const limits = new Map<string, number>();
  for (const [account, own] of holdings) {
    if ((sums.get(account) ?? 0) <= level) continue;
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
