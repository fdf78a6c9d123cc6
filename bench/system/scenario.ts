import type { Bar, ScenarioResult } from '../result/result.ts';
import type { Progress } from '../report/progress.ts';
import type { Stage } from './stage.ts';

/** What every scenario is given. */
export type ScenarioContext = {
  /** How long each single measurement lasts, in seconds. */
  readonly seconds: number;
  /** How long load runs before it is measured, in seconds. */
  readonly warmUpSeconds: number;
  /** Subjects run in turn this many times over, so that a slow moment of the machine hits them alike. */
  readonly rounds: number;
  /** Shrinks what is counted rather than timed; figures are then for a look, not to quote. */
  readonly isQuick: boolean;
  /** Of neighbours: names of the attacks to run; empty: all of them. */
  readonly attacks: readonly string[];
  /** Length of a soak, in minutes. */
  readonly minutes: number;
  /** Starts servers and processes, and ends them whatever happens. */
  readonly stage: Stage;
  readonly progress: Progress;
  say(text: string): void;
};

/** One thing the bench measures: a file, and one line in the registry. */
export type Scenario = {
  readonly name: string;
  readonly summary: string;
  /** What is asked of it; each has its measured value in the result. */
  readonly bars: readonly Bar[];
  /** Takes so long that it is run by its name only, not with all the others. */
  readonly isLong?: boolean;
  run(context: ScenarioContext): Promise<ScenarioResult>;
};
