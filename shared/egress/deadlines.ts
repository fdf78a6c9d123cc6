/** What has to end in time. */
export type Timed = { expire(): void };

/** The place of one thing among those that began before and after it. */
export type Deadline = {
  timed: Timed | undefined;
  /** By performance.now(). */
  readonly dueAtMs: number;
  earlier: Deadline | undefined;
  later: Deadline | undefined;
};

/**
 * One fixed time for many things at once, with a single timer: what began first is due first. A timer each would cost
 * more than a request does otherwise. A list, and not a Map: a Map that things come to and leave all the time is copied
 * every few of them, and each old copy keeps what was in it, and the next copy, until the old heap is collected.
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

  /** It ended by itself. */
  end(deadline: Deadline): void {
    if (deadline.timed === undefined) return;
    const { earlier, later } = deadline;
    if (earlier === undefined) this.#first = later;
    else earlier.later = later;
    if (later === undefined) this.#last = earlier;
    else later.earlier = earlier;
    // Nothing of it may keep another.
    deadline.timed = undefined;
    deadline.earlier = undefined;
    deadline.later = undefined;
  }

  /** Forgets everything. */
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
