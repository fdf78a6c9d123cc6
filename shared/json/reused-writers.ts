type Writer = { readonly capacity: number; reset(): void };

export type ReusedWritersOptions<Kind> = {
  make(): Kind;
  /** One that has grown larger is not kept. */
  readonly bytesMax: number;
  /** So many are kept, at most. */
  readonly keptMax: number;
};

/**
 * Writers that are used again once what they wrote is elsewhere: the buffer of a new one grows step by step, and is memory
 * that the system has to clear.
 */
export class ReusedWriters<Kind extends Writer> {
  readonly #options: ReusedWritersOptions<Kind>;
  readonly #kept: Kind[] = [];

  constructor(options: ReusedWritersOptions<Kind>) {
    this.#options = options;
  }

  /** An empty one. */
  take(): Kind {
    return this.#kept.pop() ?? this.#options.make();
  }

  /** What it wrote is not looked at any more. */
  giveBack(writer: Kind): void {
    const { bytesMax, keptMax } = this.#options;
    if (writer.capacity > bytesMax || this.#kept.length >= keptMax) return;
    writer.reset();
    this.#kept.push(writer);
  }
}
