/** A resolver or dispatcher that runs on a thread. */
export type Actor = {
  /** Settles when the actor has ended: rejects when an error ended it, resolves after `stop`. */
  readonly done: Promise<void>;
  stop(deadlineMs: number): Promise<void>;
  stats(): Readonly<Record<string, number>>;
};
