/**
 * A token bucket: `ratePerS` events a second, up to `capacity` at once. A request for more than the bucket can ever
 * hold passes when it is full and leaves a debt, so no size is refused for ever.
 */
export class TokenBucket {
  readonly #ratePerMs: number;
  readonly #capacity: number;
  #tokens: number;
  #filledAtMs: number;

  constructor(ratePerS: number, capacity: number, nowMs: number) {
    this.#ratePerMs = ratePerS / 1000;
    this.#capacity = capacity;
    this.#tokens = capacity;
    this.#filledAtMs = nowMs;
  }

  /** Takes `events` tokens and returns 0, or takes none and returns how long to wait for them, in ms. */
  take(events: number, nowMs: number): number {
    this.#fill(nowMs);
    const needed = events > this.#capacity ? this.#capacity : events;
    if (this.#tokens < needed) return (needed - this.#tokens) / this.#ratePerMs;
    this.#tokens -= events;
    return 0;
  }

  /** Takes tokens for work whose cost was known only afterwards: taking more than there are leaves a debt. */
  charge(tokens: number, nowMs: number): void {
    this.#fill(nowMs);
    this.#tokens -= tokens;
  }

  #fill(nowMs: number): void {
    // A clock that was set back adds no tokens this time; filling continues from the new time.
    const elapsedMs = nowMs > this.#filledAtMs ? nowMs - this.#filledAtMs : 0;
    const grown = this.#tokens + elapsedMs * this.#ratePerMs;
    this.#tokens = grown > this.#capacity ? this.#capacity : grown;
    this.#filledAtMs = nowMs;
  }
}
