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

  /** Number of checkpoints in the log that are no longer needed. */
  get removable(): number {
    return this.#removable;
  }

  add(checkpoint: HeldCheckpoint): void {
    this.#held.push(checkpoint);
    this.#ids += checkpoint.ids;
  }

  /** Drops the oldest checkpoints that are older than `oldestMs`, or without which at least `idsKept` ids are held. */
  forget(oldestMs: number, idsKept: number): void {
    for (;;) {
      const [oldest, next] = this.#held;
      // The newest checkpoint stays, since the next one names it as its predecessor.
      if (oldest === undefined || next === undefined) return;
      if (oldest.timeMs >= oldestMs && this.#ids - oldest.ids < idsKept) return;
      this.#held.shift();
      this.#ids -= oldest.ids;
      this.#removable += 1;
    }
  }

  /** Call after a purge of the log. Unneeded checkpoints that the purge left are removed with the next ones. */
  removed(): void {
    this.#removable = 0;
  }
}
