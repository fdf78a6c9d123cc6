import { Debts } from '../../../shared/runtime/debts.ts';

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
  readonly #unitsAtOnce: number;
  readonly #now: () => number;
  /** What accounts have spent in company. */
  readonly #debts: Debts;
  /** Who did something last, and who did so last of all the others. */
  #last: Activity = { accountId: undefined, atMs: Number.NEGATIVE_INFINITY };
  #lastOther: Activity = this.#last;

  /** `now` is in ms, and never goes back. */
  constructor({ unitsPerMs, unitsAtOnce }: PaceLimits, now: () => number = () => performance.now()) {
    this.#unitsAtOnce = unitsAtOnce;
    this.#now = now;
    this.#debts = new Debts(unitsPerMs, now);
  }

  /** The account had something to do: the others are not alone. */
  note(accountId: string): void {
    if (accountId !== this.#last.accountId) this.#lastOther = this.#last;
    this.#last = { accountId, atMs: this.#now() };
  }

  /** The account did something. What it does alone costs it nothing. */
  spend(accountId: string, units: number): void {
    this.note(accountId);
    if (this.#hasCompany(accountId, this.#last.atMs)) this.#debts.add(accountId, units);
  }

  /** For how long the account has to wait before it does more, in ms; 0 where it need not. */
  waitMs(accountId: string): number {
    const waitMs = this.#debts.waitMs(accountId, this.#unitsAtOnce);
    return waitMs > 0 && this.#hasCompany(accountId, this.#now()) ? waitMs : 0;
  }

  /** The account has nothing more to do here. */
  forget(accountId: string): void {
    this.#debts.forget(accountId);
  }

  #hasCompany(accountId: string, nowMs: number): boolean {
    const other = this.#last.accountId === accountId ? this.#lastOther : this.#last;
    return nowMs - other.atMs < activeMs;
  }
}

type Activity = { readonly accountId: string | undefined; readonly atMs: number };
