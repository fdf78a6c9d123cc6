/** The rules and templates of an event exceed its budget. */
export class OverBudgetError extends Error {
  readonly code = 'over_budget';

  constructor(unitsMax: number) {
    super(`the rules and templates take more than the ${String(unitsMax)} units of work an event may take`);
    this.name = 'OverBudgetError';
  }
}

/**
 * Limit of the work of a destination's rules for one event, and separately of the templates of its request, in units. A
 * dispatcher makes a dead letter of an event that needs more.
 */
export const eventWorkMax = 2_000_000;

/**
 * The budget of rules and templates for one event, in units: about one for each character read or written, some
 * nanoseconds each. Work is counted and not timed, so that the limit is the same on every machine.
 */
export class Work {
  readonly #unitsMax: number;
  /**
   * Sizes of the lists and objects that were written, since a large value may be written many times. Undefined for most
   * events, which write no list or object.
   */
  #sizes: Map<object, number> | undefined;
  #spent = 0;
  #written = 0;

  constructor(unitsMax: number) {
    this.#unitsMax = unitsMax;
  }

  get spent(): number {
    return this.#spent;
  }

  /** Characters of the values that were written, as JSON. */
  get written(): number {
    return this.#written;
  }

  /** Charges for a value that is written to the output. Throws OverBudgetError if that exceeds the budget. */
  write(value: unknown): void {
    const characters = this.#sizeOf(value);
    this.#written += characters;
    this.spend(characters);
  }

  /** Throws OverBudgetError if the units exceed the budget. */
  spend(units: number): void {
    this.#spent += units;
    if (this.#spent > this.#unitsMax) throw new OverBudgetError(this.#unitsMax);
  }

  #sizeOf(value: unknown): number {
    if (typeof value !== 'object' || value === null) return 1 + (typeof value === 'string' ? value.length : scalarSize);
    const known = this.#sizes?.get(value);
    if (known !== undefined) return known;
    let size = 2;
    for (const [name, member] of Object.entries(value)) {
      size += (Array.isArray(value) ? 1 : name.length + 4) + this.#sizeOf(member);
    }
    this.#sizes ??= new Map();
    this.#sizes.set(value, size);
    return size;
  }
}

/** Size of a number, a boolean or null. */
const scalarSize = 5;
