/** One piece of a hot path. */
export type MicroTask = {
  readonly name: string;
  /** Events one call of `run` handles. */
  readonly events: number;
  /** What came of it, so that no compiler may leave it out. */
  run(): unknown;
};
