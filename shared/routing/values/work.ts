/** The rules about an event took more than an event may take. */
export class OverBudgetError extends Error {
  readonly code = 'over_budget';

  constructor(unitsMax: number) {
    super(`the rules and templates take more than the ${String(unitsMax)} units of work an event may take`);
    this.name = 'OverBudgetError';
  }
}

/**
 * What rules and templates may cost of one event, counted in units: about one for each character that is looked at or
 * written, which is some nanoseconds. It is counted and not timed, so that it comes to the same on every machine.
 */
export class Work {
  readonly #unitsMax: number;
  #spent = 0;

  constructor(unitsMax: number) {
    this.#unitsMax = unitsMax;
  }

  get spent(): number {
    return this.#spent;
  }

  /** Throws OverBudgetError where that is more than is left. */
  spend(units: number): void {
    this.#spent += units;
    if (this.#spent > this.#unitsMax) throw new OverBudgetError(this.#unitsMax);
  }
}
