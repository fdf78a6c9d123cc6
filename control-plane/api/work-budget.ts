import { Debts } from '../../shared/runtime/debts.ts';

export type WorkBudgetLimits = {
  /** Of each millisecond, between 0 and 1. */
  readonly share: number;
  /** What an owner may take at once before it has to wait, in ms. */
  readonly burstMs: number;
};

/** How much time owners may take of something that all share, over time. */
export class WorkBudget {
  readonly #burstMs: number;
  readonly #debts: Debts;

  /** `now` is in ms, and never goes back. */
  constructor({ share, burstMs }: WorkBudgetLimits, now: () => number = () => performance.now()) {
    this.#burstMs = burstMs;
    this.#debts = new Debts(share, now);
  }

  /** How long an owner has to wait before it takes more, in ms; 0 where it need not. */
  waitMs(owner: string): number {
    return this.#debts.waitMs(owner, this.#burstMs);
  }

  /** An owner has taken so many ms. */
  spend(owner: string, ms: number): void {
    this.#debts.add(owner, ms);
  }
}
