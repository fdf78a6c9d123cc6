import type { CostBudget } from '../../../../shared/limits/index.ts';

/**
 * How the dispatchers of a thread share its time: in each round of the event loop those of one account spend at most so many
 * units of work together on rules, on requests and on what goes to the retry log or the dead letters, however many they are,
 * and wait for the next round once they have; or for longer, where their account's pace asks for it.
 */
export class AccountShares {
  readonly #roundUnitsMax: number;
  readonly #pace: CostBudget;
  readonly #accounts = new Map<string, Account>();
  /** Accounts some of whose dispatchers wait, or have waited until now. */
  readonly #waiting = new Set<Account>();
  #round = 0;
  #isRoundOpen = false;
  /** Opens a round when the first of those that are held up by their pace may go on. */
  #pacing: NodeJS.Timeout | undefined;

  constructor(roundUnitsMax: number, pace: CostBudget) {
    this.#roundUnitsMax = roundUnitsMax;
    this.#pace = pace;
  }

  /** The share of one dispatcher in what its account may spend. `goOn` is what it waits for: see `AccountShare.wait`. */
  join(accountId: string, goOn: () => void): AccountShare {
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
   * Has one of each account go on, and once it has done what it can the one behind it, as long as the account has something
   * left: were all of a thousand told at once, most of them would find that it has not, round after round.
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
    // Behind everything that those who were told do at once: of these, promises are settled before the next tick.
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

/** What one dispatcher has to do with the others of its account. */
export type AccountShare = {
  /** Whether the account has something left. What it began may exceed that by one event. */
  mayWork(): boolean;
  spend(units: number): void;
  /** Has `goOn` called in a later round: when those of the account that have waited for longer leave something. */
  wait(): void;
  /** The dispatcher has ended. */
  leave(): void;
};

/** What the dispatchers of an account have spent together in a round, and those that wait, in turn. */
type Account = {
  readonly id: string;
  members: number;
  round: number;
  spent: number;
  readonly queue: (() => void)[];
};
