/** A worker that runs on a thread. `Stat` names the numbers it reports. */
export type Actor<Stat extends string = string> = {
  /** Settles when the actor has ended: rejects when an error ended it, resolves after `stop`. */
  readonly done: Promise<void>;
  stop(deadlineMs: number): Promise<void>;
  /** What it has counted. It may be one object that changes: a copy each time would be most of what an idle actor costs. */
  stats(): Readonly<Record<Stat, number>>;
  /** The configuration of its account changed. */
  reconfigured?(): void;
  /** A tier of its retry log holds something. */
  retriesStored?(tier: number): void;
};
