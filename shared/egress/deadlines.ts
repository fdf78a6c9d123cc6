/** What has to end in time. */
export type Timed = { expire(): void };

/**
 * One fixed time for many things at once, with a single timer: what began first is due first. A timer each would cost
 * more than a request does otherwise.
 */
export class Deadlines {
  readonly #timeoutMs: number;
  /** In the order they began, with the time each is due, by performance.now(). */
  readonly #dueAtMs = new Map<Timed, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  begin(timed: Timed): void {
    this.#dueAtMs.set(timed, performance.now() + this.#timeoutMs);
    this.#timer ??= setTimeout(() => this.#expireDue(), this.#timeoutMs);
  }

  /** It ended by itself. */
  end(timed: Timed): void {
    this.#dueAtMs.delete(timed);
  }

  /** Forgets everything. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#dueAtMs.clear();
  }

  #expireDue(): void {
    this.#timer = undefined;
    const nowMs = performance.now();
    for (const [timed, dueAtMs] of this.#dueAtMs) {
      if (dueAtMs > nowMs) {
        this.#timer = setTimeout(() => this.#expireDue(), dueAtMs - nowMs + 1);
        return;
      }
      this.#dueAtMs.delete(timed);
      timed.expire();
    }
  }
}
