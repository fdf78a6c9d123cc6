export type ConcurrencyLimitOptions = {
  /** Units that all owners together may use at a time. Unlimited by default. */
  readonly max?: number;
  /** Units that one owner may use at a time. */
  readonly ofOwnerMax: number;
};

/**
 * Limits the units that each owner (an account, an address) and all owners together use at a time: requests in flight,
 * bodies being decompressed, bytes of memory. The limit refuses and never waits; a caller that has to wait uses
 * `p-limit` as well.
 *
 * ```ts
 * const decompressed = new ConcurrencyLimit({ max: 16, ofOwnerMax: 8 });
 * if (!decompressed.take(address)) return busy;
 * try { … } finally { decompressed.release(address); }
 * ```
 */
export class ConcurrencyLimit {
  readonly max: number;
  readonly #ofOwnerMax: number;
  /** Units in use by owner; an owner that uses none has no entry. */
  readonly #used = new Map<string, number>();
  #total = 0;
  #refused = 0;

  constructor({ max = Infinity, ofOwnerMax }: ConcurrencyLimitOptions) {
    this.max = max;
    this.#ofOwnerMax = ofOwnerMax;
  }

  /** Units in use by all owners. */
  get total(): number {
    return this.#total;
  }

  /** Number of owners with units in use. */
  get size(): number {
    return this.#used.size;
  }

  /** Number of refusals since the start. */
  get refused(): number {
    return this.#refused;
  }

  usedBy(owner: string): number {
    return this.#used.get(owner) ?? 0;
  }

  /** Whether an owner may take this many units more. */
  hasRoom(owner: string, amount: number): boolean {
    return this.usedBy(owner) + amount <= this.#ofOwnerMax && this.#total + amount <= this.max;
  }

  /** Takes units for an owner; returns false if its limit, or the limit of all, would be exceeded. */
  take(owner: string, amount = 1): boolean {
    if (!this.hasRoom(owner, amount)) {
      this.#refused += 1;
      return false;
    }
    this.charge(owner, amount);
    return true;
  }

  /** Takes units whose number was only estimated for `hasRoom`, so limits may be exceeded. */
  charge(owner: string, amount: number): void {
    this.#used.set(owner, this.usedBy(owner) + amount);
    this.#total += amount;
  }

  release(owner: string, amount = 1): void {
    const used = this.usedBy(owner) - amount;
    if (used > 0) this.#used.set(owner, used);
    else this.#used.delete(owner);
    this.#total -= amount;
  }
}
