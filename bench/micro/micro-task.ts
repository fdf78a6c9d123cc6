/** One piece of a hot path. */
export type MicroTask = {
  readonly name: string;
  /** Events one call of `run` handles. */
  readonly events: number;
  /** The result, so that no compiler may leave the work out. */
  run(): unknown;
};
