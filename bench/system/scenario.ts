import type { Bar, ScenarioResult } from '../result/result.ts';
import type { Progress } from '../report/progress.ts';
import type { Stage } from './stage.ts';

/** What every scenario gets to measure with. */
export type ScenarioContext = {
  /** Length of each measurement, in seconds. */
  readonly seconds: number;
  /** Minimum length of a warm-up, in seconds. */
  readonly warmUpSeconds: number;
  /** Maximum length of a warm-up, in seconds; the warm-up ends earlier if the rate is steady. */
  readonly warmUpSecondsMax: number;
  /**
   * Number of rounds. Each round measures all subjects in turn, so that a slow moment of the machine affects all of
   * them.
   */
  readonly rounds: number;
  /** Also reduces sizes that are counts and not lengths. Figures of a quick run must not be quoted. */
  readonly isQuick: boolean;
  /** For neighbours: names of the attacks to run; empty: all attacks. */
  readonly attacks: readonly string[];
  /** For dispatch: numbers of destinations to measure; empty: all that the scenario has. */
  readonly destinations: readonly number[];
  /** Length of a soak, in minutes. */
  readonly minutes: number;
  /** Starts servers and processes, which are always stopped at the end. */
  readonly stage: Stage;
  readonly progress: Progress;
  say(text: string): void;
  /**
   * Measures a subject once. If that fails, the failure is stored in the result next to the earlier rounds, and this
   * and all later calls for the subject return undefined, so that rounds of several subjects still correspond.
   */
  attempt<Measured>(subject: string, measure: () => Promise<Measured>): Promise<Measured | undefined>;
};

/** Lengths of a measurement in ms, for loads and sinks. */
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

/** A measurement of the bench: one file, and an entry in the registry. */
export type Scenario = {
  readonly name: string;
  readonly summary: string;
  /** Requirements; the result has a measured value for each requirement that the run could judge. */
  readonly bars: readonly Bar[];
  /** The scenario takes so long that it runs only by name, not with `all`. */
  readonly isLong?: boolean;
  /** Lengths that meaningful bars need; used unless other lengths or a quick run are requested. */
  readonly usual?: { readonly seconds?: number; readonly rounds?: number };
  run(context: ScenarioContext): Promise<ScenarioResult>;
};
