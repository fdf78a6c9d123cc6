/** A checkpoint that the table still needs. */
export type HeldCheckpoint = { readonly seq: number; readonly ids: number; readonly timeMs: number };

/** The checkpoints of a partition that a start would read, oldest first, and how many older ones the log still has. */
export class HeldCheckpoints {
  readonly #held: HeldCheckpoint[];
  #ids: number;
  #removable = 0;

  constructor(held: readonly HeldCheckpoint[]) {
    this.#held = [...held];
    this.#ids = held.reduce((sum, { ids }) => sum + ids, 0);
  }

  /** Of all of them. */
  get ids(): number {
    return this.#ids;
  }

  /** Sequence of the oldest. */
  get firstSeq(): number | undefined {
    return this.#held[0]?.seq;
  }

  /** Checkpoints that are not needed any more and were not removed from the log yet. */
  get removable(): number {
    return this.#removable;
  }

  add(checkpoint: HeldCheckpoint): void {
    this.#held.push(checkpoint);
    this.#ids += checkpoint.ids;
  }

  /** Needs none any more that is older than `oldestMs`, or without which `idsKept` are left. */
  forget(oldestMs: number, idsKept: number): void {
    for (;;) {
      const [oldest, next] = this.#held;
      // The newest stays: it is what the next one follows.
      if (oldest === undefined || next === undefined) return;
      if (oldest.timeMs >= oldestMs && this.#ids - oldest.ids < idsKept) return;
      this.#held.shift();
      this.#ids -= oldest.ids;
      this.#removable += 1;
    }
  }

  /** The log has no older ones any more. */
  removed(): void {
    this.#removable = 0;
  }
}
