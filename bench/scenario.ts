/** What every scenario is given. */
export type ScenarioContext = {
  /** How long each measurement lasts, in seconds. */
  readonly seconds: number;
  readonly say: (text: string) => void;
  /** Shows where a measurement stands; `undefined` clears it. */
  readonly progress: (text: string | undefined) => void;
};

/** One measured thing: a row of the table. */
export type ResultRow = {
  readonly name: string;
  readonly perSecond: number;
  /** Against the row the scenario names as its reference, in the same run. */
  readonly ratio?: number;
  readonly latencyMs?: { readonly p50: number; readonly p90: number; readonly p99: number; readonly max: number };
  readonly memoryBytes?: number;
  readonly note?: string;
  /** Every single measurement behind `perSecond`, which is their median. */
  readonly samples?: readonly number[];
};

export type ScenarioResult = {
  readonly unit: string;
  readonly rows: readonly ResultRow[];
  readonly settings: Readonly<Record<string, unknown>>;
};

export type Scenario = {
  readonly name: string;
  readonly summary: string;
  run(context: ScenarioContext): Promise<ScenarioResult>;
};
