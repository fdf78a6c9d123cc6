/**
 * How the dispatchers of a thread share its time: in each round of the event loop those of one account spend at most so many
 * units of work together on rules and requests, however many they are, and wait for the next round once they have.
 */
export class AccountShares {
  readonly #roundUnitsMax: number;
  readonly #spent = new Map<string, number>();
  #waiting: (() => void)[] = [];
  #isRoundOpen = false;

  constructor(roundUnitsMax: number) {
    this.#roundUnitsMax = roundUnitsMax;
  }

  /** Whether the account has something left. What it began may exceed that by one event. */
  mayWork(accountId: string): boolean {
    return (this.#spent.get(accountId) ?? 0) < this.#roundUnitsMax;
  }

  spend(accountId: string, units: number): void {
    this.#spent.set(accountId, (this.#spent.get(accountId) ?? 0) + units);
    this.#openRound();
  }

  /** Calls `goOn` when the next round begins. */
  whenNextRound(goOn: () => void): void {
    this.#waiting.push(goOn);
    this.#openRound();
  }

  #openRound(): void {
    if (this.#isRoundOpen) return;
    this.#isRoundOpen = true;
    setImmediate(() => {
      this.#isRoundOpen = false;
      this.#spent.clear();
      for (const goOn of this.#waiting.splice(0)) goOn();
    });
  }
}
