import type { Bar, ScenarioResult } from '../result/result.ts';
import type { Progress } from '../report/progress.ts';
import type { Stage } from './stage.ts';

/** What every scenario is given. */
export type ScenarioContext = {
  /** How long each single measurement lasts, in seconds. */
  readonly seconds: number;
  /** How long load runs at least before it is measured, in seconds. */
  readonly warmUpSeconds: number;
  /** It goes on until its own rate is steady, and no longer than this. */
  readonly warmUpSecondsMax: number;
  /** Subjects run in turn this many times over, so that a slow moment of the machine hits them alike. */
  readonly rounds: number;
  /** Shrinks what is counted rather than timed; figures are then for a look, not to quote. */
  readonly isQuick: boolean;
  /** Of neighbours: names of the attacks to run; empty: all of them. */
  readonly attacks: readonly string[];
  /** Of dispatch: to how many destinations; empty: to each number it measures. */
  readonly destinations: readonly number[];
  /** Length of a soak, in minutes. */
  readonly minutes: number;
  /** Starts servers and processes, and ends them whatever happens. */
  readonly stage: Stage;
  readonly progress: Progress;
  say(text: string): void;
  /**
   * Measures a subject once. Where that fails, the result says so and keeps what there was before; undefined then, and in
   * all later rounds of that subject, so that rounds of several subjects still belong together.
   */
  attempt<Measured>(subject: string, measure: () => Promise<Measured>): Promise<Measured | undefined>;
};

/** Lengths of one measurement, as load and sinks take them. */
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
  /** Its requirements; each has its measured value in the result. */
  readonly bars: readonly Bar[];
  /** Takes so long that it runs only by name, not with all the others. */
  readonly isLong?: boolean;
  /** Lengths below which it judges nothing; taken unless others were asked for, or a quick run. */
  readonly usual?: { readonly seconds?: number; readonly rounds?: number };
  run(context: ScenarioContext): Promise<ScenarioResult>;
};
