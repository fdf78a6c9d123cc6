import type { CostBudget } from '../../../../shared/limits/index.ts';

/**
 * Divides the time of a thread between accounts. In each round of the event loop all dispatchers of one account together
 * spend at most `roundUnitsMax` units of work on rules, requests and writes; then they wait for the next round, or
 * longer if the account's cost budget requires it.
 */
export class RoundBudgets {
  readonly #roundUnitsMax: number;
  readonly #pace: CostBudget;
  readonly #accounts = new Map<string, Account>();
  /** Accounts with waiting dispatchers. An account whose queue is empty stays until `#goOn` removes it. */
  readonly #waiting = new Set<Account>();
  #round = 0;
  #isRoundOpen = false;
  /** Opens a round when the first account that exceeded its cost budget may continue. */
  #pacing: NodeJS.Timeout | undefined;

  constructor(roundUnitsMax: number, pace: CostBudget) {
    this.#roundUnitsMax = roundUnitsMax;
    this.#pace = pace;
  }

  /** Adds a dispatcher to its account's budget. `goOn` wakes the dispatcher: see `RoundBudget.wait`. */
  join(accountId: string, goOn: () => void): RoundBudget {
    const account = this.#accounts.get(accountId) ?? { id: accountId, members: 0, round: 0, spent: 0, queue: [] };
    this.#accounts.set(accountId, account);
    account.members += 1;
    let isWaiting = false;
    const next = (): void => {
      isWaiting = false;
      goOn();
    };
    return {
      mayWork: () => this.#hasLeft(account),
      spend: (units) => {
        account.spent = this.#spentBy(account) + units;
        account.round = this.#round;
        this.#pace.spend(accountId, units);
        this.#openRound();
      },
      wait: () => {
        if (isWaiting) return;
        isWaiting = true;
        account.queue.push(next);
        this.#waiting.add(account);
        this.#openRound();
      },
      leave: () => {
        account.members -= 1;
        if (account.members > 0 || this.#accounts.get(accountId) !== account) return;
        this.#accounts.delete(accountId);
        this.#pace.forget(accountId);
      },
    };
  }

  #spentBy({ round, spent }: Account): number {
    return round === this.#round ? spent : 0;
  }

  #hasLeft(account: Account): boolean {
    return this.#spentBy(account) < this.#roundUnitsMax && this.#pace.waitMs(account.id) === 0;
  }

  #openRound(): void {
    if (this.#isRoundOpen) return;
    this.#isRoundOpen = true;
    setImmediate(() => {
      this.#isRoundOpen = false;
      this.#round += 1;
      this.#goOn();
    });
  }

  /**
   * Wakes one dispatcher of each account; when it is done, wakes the next one of the account, as long as units are
   * left. If a thousand dispatchers were woken at once, most of them would find no units left, in every round.
   */
  #goOn(): void {
    let hasGone = false;
    for (const account of this.#waiting) {
      if (!this.#hasLeft(account)) continue;
      const next = account.queue.shift();
      if (next === undefined) {
        this.#waiting.delete(account);
        continue;
      }
      next();
      hasGone = true;
    }
    // Continues after the immediate work of the dispatchers that were woken: their promises are settled before the next
    // tick.
    if (hasGone) queueMicrotask(() => process.nextTick(() => this.#goOn()));
    else if (this.#waiting.size > 0) this.#openRoundWhenDue();
  }

  #openRoundWhenDue(): void {
    const waitMs = Math.min(...[...this.#waiting].map(({ id }) => this.#pace.waitMs(id)));
    clearTimeout(this.#pacing);
    if (waitMs > 0) this.#pacing = setTimeout(() => this.#openRound(), Math.ceil(waitMs));
    else this.#openRound();
  }
}

/** The budget of an account, as one of its dispatchers uses it. */
export type RoundBudget = {
  /** Whether the account has units left. Its last event may take more than are left. */
  mayWork(): boolean;
  spend(units: number): void;
  /** Calls `goOn` in a later round, after those dispatchers of the account that have waited longer. */
  wait(): void;
  /** Call when the dispatcher has ended. */
  leave(): void;
};

/**
 * An account: the units that its dispatchers have spent in a round, and its waiting dispatchers in the order of their
 * turns.
 */
type Account = {
  readonly id: string;
  members: number;
  round: number;
  spent: number;
  readonly queue: (() => void)[];
};
