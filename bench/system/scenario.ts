import type { Bar, ScenarioResult } from '../result/result.ts';
import type { Progress } from '../report/progress.ts';
import type { Stage } from './stage.ts';

/** The context that every scenario gets. */
export type ScenarioContext = {
  /** Length of each measurement, in seconds. */
  readonly seconds: number;
  /** Minimum length of a warm-up, in seconds. */
  readonly warmUpSeconds: number;
  /** A warm-up continues until the rate is steady, up to this length in seconds. */
  readonly warmUpSecondsMax: number;
  /** Number of rounds: each measures all subjects in turn, so that a slow moment of the machine affects them alike. */
  readonly rounds: number;
  /** Also reduces sizes that are counts, not lengths; its figures are not to be quoted. */
  readonly isQuick: boolean;
  /** For neighbours: names of the attacks to run; empty: all of them. */
  readonly attacks: readonly string[];
  /** For dispatch: the numbers of destinations; empty: all that it measures. */
  readonly destinations: readonly number[];
  /** Length of a soak, in minutes. */
  readonly minutes: number;
  /** Starts servers and processes, and always stops them at the end. */
  readonly stage: Stage;
  readonly progress: Progress;
  say(text: string): void;
  /**
   * Measures a subject once. If that fails, the result has the failure and keeps the earlier rounds; this and all later
   * rounds of the subject return undefined, so that rounds of several subjects still correspond.
   */
  attempt<Measured>(subject: string, measure: () => Promise<Measured>): Promise<Measured | undefined>;
};

/** Lengths of one measurement in ms, for load and sinks. */
export function timesOf({
  warmUpSeconds,
  warmUpSecondsMax,
  seconds,
}: Pick<ScenarioContext, 'warmUpSeconds' | 'warmUpSecondsMax' | 'seconds'>): {
  readonly warmUpMs: number;
  readonly warmUpMaxMs: number;
  readonly measureMs: number;
} {
  return { warmUpMs: warmUpSeconds * 1000, warmUpMaxMs: warmUpSecondsMax * 1000, measureMs: seconds * 1000 };
}

/** One measurement of the bench: a file, and one line in the registry. */
export type Scenario = {
  readonly name: string;
  readonly summary: string;
  /** Its requirements; the result has a measured value for each. */
  readonly bars: readonly Bar[];
  /** Takes so long that it runs only by name, not with `all`. */
  readonly isLong?: boolean;
  /** Minimum lengths for meaningful bars; the default unless other lengths or a quick run were requested. */
  readonly usual?: { readonly seconds?: number; readonly rounds?: number };
  run(context: ScenarioContext): Promise<ScenarioResult>;
};
