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
  /** Of values that were written: a large one may be written many times. Of most events none is. */
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

  /** A value is written into what goes out. Throws OverBudgetError where that is more than is left. */
  write(value: unknown): void {
    const characters = this.#sizeOf(value);
    this.#written += characters;
    this.spend(characters);
  }

  /** Throws OverBudgetError where that is more than is left. */
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

/** Most numbers, and whatever else is no text, list or object. */
const scalarSize = 5;
