/** Lets a batch that is not full wait a moment for more events, while other requests are in flight anyway. */
export class BatchLinger {
  readonly #lingerMs: number;
  readonly #onOver: () => void;
  #untilMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(lingerMs: number, onOver: () => void) {
    this.#lingerMs = lingerMs;
    this.#onOver = onOver;
  }

  /** Whether the batch that could be sent now should wait. `ready` events could travel in it. */
  shouldWait(ready: number, batchEventsMax: number, requestsInFlight: number): boolean {
    const isWorthIt = this.#lingerMs > 0 && requestsInFlight > 0 && ready < batchEventsMax;
    if (!isWorthIt) return false;
    const nowMs = performance.now();
    if (this.#untilMs === undefined) {
      this.#untilMs = nowMs + this.#lingerMs;
      this.#timer = setTimeout(this.#onOver, this.#lingerMs + 1);
    }
    return nowMs < this.#untilMs;
  }

  /** A batch was sent. */
  sent(): void {
    this.#untilMs = undefined;
    clearTimeout(this.#timer);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
