/** A checkpoint that the table still needs. */
export type HeldCheckpoint = { readonly seq: number; readonly ids: number; readonly timeMs: number };

/** The checkpoints of a partition that a start would read, oldest first, and the number of older ones in the log. */
export class HeldCheckpoints {
  readonly #held: HeldCheckpoint[];
  #ids: number;
  #removable = 0;

  constructor(held: readonly HeldCheckpoint[]) {
    this.#held = [...held];
    this.#ids = held.reduce((sum, { ids }) => sum + ids, 0);
  }

  /** Number of ids in all held checkpoints. */
  get ids(): number {
    return this.#ids;
  }

  /** Sequence of the oldest held checkpoint. */
  get firstSeq(): number | undefined {
    return this.#held[0]?.seq;
  }

  /** Unneeded checkpoints still in the log. */
  get removable(): number {
    return this.#removable;
  }

  add(checkpoint: HeldCheckpoint): void {
    this.#held.push(checkpoint);
    this.#ids += checkpoint.ids;
  }

  /** Drops the oldest checkpoint while it is older than `oldestMs`, or the others have at least `idsKept` ids. */
  forget(oldestMs: number, idsKept: number): void {
    for (;;) {
      const [oldest, next] = this.#held;
      // The newest stays: the next one follows it.
      if (oldest === undefined || next === undefined) return;
      if (oldest.timeMs >= oldestMs && this.#ids - oldest.ids < idsKept) return;
      this.#held.shift();
      this.#ids -= oldest.ids;
      this.#removable += 1;
    }
  }

  /** Call after a purge of the log. Unneeded checkpoints that are still there are removed with the next ones. */
  removed(): void {
    this.#removable = 0;
  }
}
