/** An account counts as one with something to do for so long after it did something. */
const activeMs = 1_000;

export type PaceLimits = {
  /** What an account may spend in a millisecond while another one has something to do. */
  readonly unitsPerMs: number;
  /** What it may spend at once before it has to wait. */
  readonly unitsAtOnce: number;
};

/**
 * How fast the work of one account may go on in a thread. Alone it is as fast as it can be. While another account has
 * something to do too, an account that has spent much waits until what it spent is worn off: what it leaves of the
 * processors is for the others, and for the services that all accounts share. What is spent is counted, in the units of
 * the rules; only the wait is time.
 */
export class AccountPace {
  readonly #limits: PaceLimits;
  readonly #now: () => number;
  /** What accounts have spent in company, until it is known to be worn off. */
  readonly #debts = new Map<string, Debt>();
  /** Who did something last, and who did so last of all the others. */
  #last: Activity = { accountId: undefined, atMs: Number.NEGATIVE_INFINITY };
  #lastOther: Activity = this.#last;

  /** `now` is in ms, and never goes back. */
  constructor(limits: PaceLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /** The account had something to do: the others are not alone. */
  note(accountId: string): void {
    if (accountId !== this.#last.accountId) this.#lastOther = this.#last;
    this.#last = { accountId, atMs: this.#now() };
  }

  /** The account did something. What it does alone costs it nothing. */
  spend(accountId: string, units: number): void {
    this.note(accountId);
    const nowMs = this.#last.atMs;
    if (!this.#hasCompany(accountId, nowMs)) return;
    this.#debts.set(accountId, { units: this.#owed(accountId, nowMs) + units, atMs: nowMs });
  }

  /** For how long the account has to wait before it does more, in ms; 0 where it need not. */
  waitMs(accountId: string): number {
    if (!this.#debts.has(accountId)) return 0;
    const nowMs = this.#now();
    if (!this.#hasCompany(accountId, nowMs)) return 0;
    const owed = this.#owed(accountId, nowMs);
    if (owed === 0) this.#debts.delete(accountId);
    return Math.max(0, (owed - this.#limits.unitsAtOnce) / this.#limits.unitsPerMs);
  }

  /** The account has nothing more to do here. */
  forget(accountId: string): void {
    this.#debts.delete(accountId);
  }

  #owed(accountId: string, nowMs: number): number {
    const debt = this.#debts.get(accountId);
    return debt === undefined ? 0 : Math.max(0, debt.units - (nowMs - debt.atMs) * this.#limits.unitsPerMs);
  }

  #hasCompany(accountId: string, nowMs: number): boolean {
    const other = this.#last.accountId === accountId ? this.#lastOther : this.#last;
    return nowMs - other.atMs < activeMs;
  }
}

type Debt = { readonly units: number; readonly atMs: number };
type Activity = { readonly accountId: string | undefined; readonly atMs: number };
