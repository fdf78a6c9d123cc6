/**
 * When requests are due at a constant rate. What is due and cannot be sent yet stays due at its own time: a server that
 * stands still for a second is charged with the second of everybody who would have asked meanwhile (coordinated
 * omission, see Gil Tene, "How NOT to Measure Latency").
 */
export class Arrivals {
  readonly #intervalMs: number;
  readonly #startMs: number;
  #taken = 0;

  constructor(ratePerS: number, startMs: number) {
    this.#intervalMs = 1_000 / ratePerS;
    this.#startMs = startMs;
  }

  /** The time the next request is due. */
  get nextMs(): number {
    return this.#startMs + this.#taken * this.#intervalMs;
  }

  /** Takes the oldest request that is due; undefined when none is. */
  take(nowMs: number): number | undefined {
    const dueMs = this.nextMs;
    if (dueMs > nowMs) return undefined;
    this.#taken += 1;
    return dueMs;
  }
}
