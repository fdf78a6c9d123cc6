import { RateLimit } from './rate-limit.ts';

/** An account counts as active for this long after its last work. */
const activeMs = 1_000;

export type CostBudgetLimits = {
  /** Units that an account may spend per millisecond while another account is active. */
  readonly unitsPerMs: number;
  /** Units that an account may spend at once before it has to wait. */
  readonly unitsAtOnce: number;
};

/**
 * Limits the cost of each account's work on a thread that all accounts share. The only active account never waits.
 * While another account is active, an account that has spent its budget waits and leaves processors and shared services
 * to the others. Cost is counted in units of work, not in time, so that a slow machine penalises no account.
 *
 * ```ts
 * const budget = new CostBudget({ unitsPerMs: 30_000, unitsAtOnce: 500_000 });
 * budget.spend(accountId, work.spent);
 * const waitMs = budget.waitMs(accountId);
 * ```
 */
export class CostBudget {
  readonly #now: () => number;
  readonly #limit: RateLimit;
  /** The latest activity, and the latest activity of any other account. */
  #last: Activity = { accountId: undefined, atMs: Number.NEGATIVE_INFINITY };
  #lastOther: Activity = this.#last;

  /** `now` is a monotonic clock, in ms. */
  constructor({ unitsPerMs, unitsAtOnce }: CostBudgetLimits, now: () => number = () => performance.now()) {
    this.#now = now;
    this.#limit = new RateLimit({ perS: unitsPerMs * 1_000, burst: unitsAtOnce }, now);
  }

  recordActivity(accountId: string): void {
    if (accountId !== this.#last.accountId) this.#lastOther = this.#last;
    this.#last = { accountId, atMs: this.#now() };
  }

  /** Charges the account for work. Work is free while no other account is active. */
  spend(accountId: string, units: number): void {
    this.recordActivity(accountId);
    if (this.#hasCompany(accountId, this.#last.atMs)) this.#limit.charge(accountId, units, this.#last.atMs);
  }

  /** Time until the account may continue, in ms; 0 if it need not wait. */
  waitMs(accountId: string): number {
    return this.#hasCompany(accountId, this.#now()) ? this.#limit.waitMs(accountId) : 0;
  }

  /** Forgets an account that has no more work here. */
  forget(accountId: string): void {
    this.#limit.forget(accountId);
  }

  #hasCompany(accountId: string, nowMs: number): boolean {
    const other = this.#last.accountId === accountId ? this.#lastOther : this.#last;
    return nowMs - other.atMs < activeMs;
  }
}

type Activity = { readonly accountId: string | undefined; readonly atMs: number };
