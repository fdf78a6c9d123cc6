/** A piece of a hot path. */
export type MicroTask = {
  readonly name: string;
  /** Number of events that one call of `run` handles. */
  readonly events: number;
  /** Returns its result, so that no compiler may omit the work. */
  run(): unknown;
};
