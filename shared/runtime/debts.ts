/** Number of owners from which on those without debts are dropped. */
const ownersSwept = 1_000;

/** Use of a resource by owner, reduced at a constant rate. */
export class Debts {
  readonly #wornPerMs: number;
  readonly #now: () => number;
  readonly #debts = new Map<string, { readonly owed: number; readonly atMs: number }>();
  #sweepAt = ownersSwept;

  /** `wornPerMs` is the reduction in a millisecond. `now` is in ms, and never goes back. */
  constructor(wornPerMs: number, now: () => number) {
    this.#wornPerMs = wornPerMs;
    this.#now = now;
  }

  add(owner: string, taken: number): void {
    this.#debts.set(owner, { owed: this.owed(owner) + taken, atMs: this.#now() });
    if (this.#debts.size > this.#sweepAt) this.#sweep();
  }

  owed(owner: string): number {
    const debt = this.#debts.get(owner);
    if (debt === undefined) return 0;
    const owed = debt.owed - (this.#now() - debt.atMs) * this.#wornPerMs;
    if (owed > 0) return owed;
    this.#debts.delete(owner);
    return 0;
  }

  /** In how many ms an owner owes no more than `allowed`; 0 where it does not now. */
  waitMs(owner: string, allowed: number): number {
    return Math.max(0, (this.owed(owner) - allowed) / this.#wornPerMs);
  }

  /** Owners who have debts. */
  get size(): number {
    return this.#debts.size;
  }

  forget(owner: string): void {
    this.#debts.delete(owner);
  }

  #sweep(): void {
    for (const owner of this.#debts.keys()) this.owed(owner);
    this.#sweepAt = Math.max(ownersSwept, 2 * this.#debts.size);
  }
}
