/** Counts writes to the log that must end before their events are settled. */
export class PendingWrites {
  readonly #onStored: () => void;
  readonly #fail: (error: unknown) => void;
  #size = 0;

  constructor(onStored: () => void, fail: (error: unknown) => void) {
    this.#onStored = onStored;
    this.#fail = fail;
  }

  get size(): number {
    return this.#size;
  }

  /** Calls `next` once something is stored. */
  after(stored: Promise<unknown>, next: () => void): void {
    this.#size += 1;
    stored
      .then(() => {
        this.#size -= 1;
        next();
        this.#onStored();
      })
      .catch(this.#fail);
  }
}
