/** The unit of a figure, which also determines how the figure is written. */
export type Unit = 'per_s' | 'ns' | 'ms' | 's' | 'bytes' | 'ratio' | 'count';

export type Figure = {
  readonly unit: Unit;
  readonly better: 'more' | 'less';
  readonly value: number;
  /** The value of each round, which comparisons use; missing in older results. */
  readonly values?: readonly number[];
  /** The readings of each round, if possible one per second. A kept result has percentiles of long lists instead. */
  readonly rounds: readonly (readonly number[])[];
};

export type Point = readonly [atS: number, value: number];

/** A line of a chart. */
export type Series = {
  /** The chart that the line belongs to. */
  readonly chart: 'throughput' | 'latency' | 'memory' | 'proportional-memory' | 'backlog';
  readonly name: string;
  readonly unit: Unit;
  readonly points: readonly Point[];
};

/** A measured subject: a row of the table. */
export type ResultRow = {
  readonly name: string;
  readonly figures: Readonly<Record<string, Figure>>;
  readonly series?: readonly Series[];
  readonly note?: string;
};

/** A requirement of a scenario. */
export type Bar = {
  readonly id: string;
  readonly text: string;
  readonly limit: number;
  readonly unit: Unit;
  /** Whether the limit is a minimum or a maximum. */
  readonly ask: 'at-least' | 'at-most';
};

export type ScenarioResult = {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly rows: readonly ResultRow[];
  /** The measured value for each bar, by the bar's id; a bar that this run did not measure is missing. */
  readonly measured: Readonly<Record<string, number>>;
  /** Lines to print below the table, such as settings to paste. */
  readonly advice?: readonly string[];
  /** Measurements that failed, with reasons; the rows have what was measured before. */
  readonly failures?: readonly string[];
};

/** Whether a measured value meets the bar; NaN, for a value that was not measured, does not. */
export function isBarMet(bar: Bar, value: number): boolean {
  return bar.ask === 'at-least' ? value >= bar.limit : value <= bar.limit;
}
