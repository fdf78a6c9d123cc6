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

  /** Number of ids in all of them. */
  get ids(): number {
    return this.#ids;
  }

  /** Sequence of the oldest. */
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

  /** Drops checkpoints older than `oldestMs`, and those without which `idsKept` ids are left. */
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

  /** The log was purged. Unneeded checkpoints that it still has are removed with the next ones. */
  removed(): void {
    this.#removable = 0;
  }
}
