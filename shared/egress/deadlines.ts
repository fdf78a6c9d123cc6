/** An item with a deadline. */
export type Timed = { expire(): void };

/** Node of the list of items, in start order. */
export type Deadline = {
  timed: Timed | undefined;
  /** Time of expiry, by performance.now(). */
  readonly dueAtMs: number;
  earlier: Deadline | undefined;
  later: Deadline | undefined;
};

/**
 * One timeout for many items, with a single timer, because items expire in start order; a timer per item would cost
 * more than the rest of a request. A linked list, not a Map, because constant additions and deletions copy a Map
 * again and again, and old copies keep their entries alive until a full garbage collection.
 */
export class Deadlines {
  readonly #timeoutMs: number;
  #first: Deadline | undefined;
  #last: Deadline | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  begin(timed: Timed): Deadline {
    const last = this.#last;
    const deadline = { timed, dueAtMs: performance.now() + this.#timeoutMs, earlier: last, later: undefined };
    if (last === undefined) this.#first = deadline;
    else last.later = deadline;
    this.#last = deadline;
    this.#timer ??= setTimeout(() => this.#expireDue(), this.#timeoutMs);
    return deadline;
  }

  /** Removes the deadline of an item that has ended; a deadline that was already removed is ignored. */
  end(deadline: Deadline): void {
    if (deadline.timed === undefined) return;
    const { earlier, later } = deadline;
    if (earlier === undefined) this.#first = later;
    else earlier.later = later;
    if (later === undefined) this.#last = earlier;
    else later.earlier = earlier;
    // An ended item must not keep another item alive.
    deadline.timed = undefined;
    deadline.earlier = undefined;
    deadline.later = undefined;
  }

  /** Drops all items; none of them expires. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#first !== undefined) this.end(this.#first);
  }

  #expireDue(): void {
    this.#timer = undefined;
    const nowMs = performance.now();
    for (;;) {
      const first = this.#first;
      if (first === undefined) return;
      if (first.dueAtMs > nowMs) {
        this.#timer = setTimeout(() => this.#expireDue(), first.dueAtMs - nowMs + 1);
        return;
      }
      const { timed } = first;
      this.end(first);
      timed?.expire();
    }
  }
}
