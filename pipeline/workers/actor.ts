/** A resolver or dispatcher that runs on a thread. */
export type Actor = {
  /** Settles when the actor has ended: rejects when an error ended it, resolves after `stop`. */
  readonly done: Promise<void>;
  stop(deadlineMs: number): Promise<void>;
  /** What it has counted, always under the same names. It may be one object that changes: a copy each time would be
   *  most of what an idle actor costs. */
  stats(): Readonly<Record<string, number>>;
};
