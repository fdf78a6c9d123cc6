/**
 * Knows the oldest frame of EVENTS that the retry log of a destination refers to. Retention keeps EVENTS from that
 * frame on, within the account's quota.
 */
export class HeldReferences {
  /** For each message of RETRY, by its sequence: the lowest sequence in EVENTS that the message refers to. */
  readonly #oldestOf = new Map<number, number>();
  #oldest: number | undefined = undefined;
  #isKnown = true;
  /** Call when the oldest frame may have changed, so that the position is written soon. */
  readonly moved: () => void;

  /** Calls `moved` when a message that refers to the oldest frame is settled. */
  constructor(moved: () => void = () => undefined) {
    this.moved = moved;
  }

  /** The sequence of the oldest frame; undefined while there are no references. */
  get oldest(): number | undefined {
    if (!this.#isKnown) {
      let oldest = Infinity;
      for (const seq of this.#oldestOf.values()) oldest = Math.min(oldest, seq);
      this.#oldest = Number.isFinite(oldest) ? oldest : undefined;
      this.#isKnown = true;
    }
    return this.#oldest;
  }

  /** Call when RETRY has a message that refers to these sequences. */
  stored(retrySeq: number, seqs: Iterable<number>): void {
    let oldest = Infinity;
    for (const seq of seqs) oldest = Math.min(oldest, seq);
    // After a loss, RETRY gives a sequence to another message.
    if (this.#oldestOf.get(retrySeq) !== oldest) this.settled(retrySeq);
    if (!Number.isFinite(oldest)) return;
    this.#oldestOf.set(retrySeq, oldest);
    if (this.#isKnown) this.#oldest = Math.min(this.#oldest ?? Infinity, oldest);
  }

  /** Call when all events of a message of RETRY are settled. */
  settled(retrySeq: number): void {
    const oldest = this.#oldestOf.get(retrySeq);
    if (oldest === undefined) return;
    this.#oldestOf.delete(retrySeq);
    if (oldest !== this.#oldest) return;
    this.#isKnown = false;
    this.moved();
  }
}

/** The sequences in EVENTS that records refer to; a record with a copy of its event does not refer to EVENTS. */
export function* referredTo(
  records: Iterable<{ readonly origin?: { readonly seq: number }; readonly line?: string }>,
): Generator<number, void, undefined> {
  for (const { origin, line } of records) if (line === undefined && origin !== undefined) yield origin.seq;
}
