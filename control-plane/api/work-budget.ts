export type WorkBudgetLimits = {
  /** Of each millisecond, between 0 and 1. */
  readonly share: number;
  /** What an owner may take at once before it has to wait, in ms. */
  readonly burstMs: number;
};

/** How much time owners may take of something that all share, over time. */
export class WorkBudget {
  readonly #limits: WorkBudgetLimits;
  readonly #now: () => number;
  /** What owners have taken and not made up for, as of a time. */
  readonly #debts = new Map<string, { readonly ms: number; readonly atMs: number }>();

  /** `now` is in ms, and never goes back. */
  constructor(limits: WorkBudgetLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /** How long an owner has to wait before it takes more, in ms; 0 where it need not. */
  waitMs(owner: string): number {
    const { share, burstMs } = this.#limits;
    return Math.max(0, (this.#owed(owner) - burstMs) / share);
  }

  /** An owner has taken so many ms. */
  spend(owner: string, ms: number): void {
    this.#debts.set(owner, { ms: this.#owed(owner) + ms, atMs: this.#now() });
  }

  #owed(owner: string): number {
    const debt = this.#debts.get(owner);
    if (debt === undefined) return 0;
    const ms = debt.ms - (this.#now() - debt.atMs) * this.#limits.share;
    if (ms > 0) return ms;
    this.#debts.delete(owner);
    return 0;
  }
}
