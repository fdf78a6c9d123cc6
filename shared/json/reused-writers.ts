type Writer = { readonly capacity: number; reset(): void };

export type ReusedWritersOptions<Kind> = {
  make(): Kind;
  /** A writer with a larger capacity, in bytes, is not kept. */
  readonly bytesMax: number;
  /** Maximum number of kept writers. */
  readonly keptMax: number;
};

/**
 * Keeps writers for reuse after their output was copied. The buffer of a new writer would grow step by step, in memory
 * that the system has to clear.
 */
export class ReusedWriters<Kind extends Writer> {
  readonly #options: ReusedWritersOptions<Kind>;
  readonly #kept: Kind[] = [];

  constructor(options: ReusedWritersOptions<Kind>) {
    this.#options = options;
  }

  /** An empty writer. */
  take(): Kind {
    return this.#kept.pop() ?? this.#options.make();
  }

  /** Takes back a writer whose output is no longer used. */
  giveBack(writer: Kind): void {
    const { bytesMax, keptMax } = this.#options;
    if (writer.capacity > bytesMax || this.#kept.length >= keptMax) return;
    writer.reset();
    this.#kept.push(writer);
  }
}
