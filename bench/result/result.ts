/** The unit of a figure, which also decides how it is written. */
export type Unit = 'per_s' | 'ns' | 'ms' | 's' | 'bytes' | 'ratio' | 'count';

export type Figure = {
  readonly unit: Unit;
  readonly better: 'more' | 'less';
  readonly value: number;
  /** The figure of each round, which a comparison uses. Missing in older results. */
  readonly values?: readonly number[];
  /**
   * The readings of each round, second by second if they were taken so. A kept result has the percentiles of long
   * lists.
   */
  readonly rounds: readonly (readonly number[])[];
};

export type Point = readonly [atS: number, value: number];

/** A line of a chart. */
export type Series = {
  /** Lines of the same chart are drawn together. */
  readonly chart: 'throughput' | 'latency' | 'memory' | 'backlog';
  readonly name: string;
  readonly unit: Unit;
  readonly points: readonly Point[];
};

/** One subject that was measured: a line of the table. */
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
  /** Measured value of each bar, by its id; a bar that this run did not measure is missing. */
  readonly measured: Readonly<Record<string, number>>;
  /** Lines to print under the table, such as settings to paste. */
  readonly advice?: readonly string[];
  /** Failed measurements, with reasons. Rows have what was measured before. */
  readonly failures?: readonly string[];
};

/** Whether a measured value meets the bar; NaN, for an unmeasured one, does not. */
export function isBarMet(bar: Bar, value: number): boolean {
  return bar.ask === 'at-least' ? value >= bar.limit : value <= bar.limit;
}
