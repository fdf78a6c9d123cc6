import type { Point, Series, Unit } from '../result/result.ts';
import type { StoredResult } from '../result/stored-result.ts';

/** `subject` is the row it belongs to. */
type ChartLine = { readonly label: string; readonly subject: number; readonly points: readonly Point[] };

/** One chart of a page: lines over the seconds of a measurement. */
export type Chart = {
  /** Which result of the page it belongs to. */
  readonly result: number;
  readonly title: string;
  readonly unit: Unit;
  readonly lines: readonly ChartLine[];
};

const titles: Readonly<Record<Series['chart'], string>> = {
  throughput: 'Throughput',
  latency: 'Latency',
  memory: 'Memory (resident)',
  backlog: 'Backlog',
};

/** The charts of a result: lines of all subjects together, one chart a kind and unit. */
export function chartsOf({ rows }: StoredResult, result: number): Chart[] {
  const charts = new Map<string, { title: string; unit: Unit; lines: ChartLine[] }>();
  for (const [subject, row] of rows.entries()) {
    for (const series of row.series ?? []) {
      if (series.points.length === 0) continue;
      const key = `${series.chart} ${series.unit}`;
      const chart = charts.get(key) ?? { title: titles[series.chart], unit: series.unit, lines: [] };
      chart.lines.push({ label: `${row.name}: ${series.name}`, subject, points: series.points });
      charts.set(key, chart);
    }
  }
  return [...charts.values()].map((chart) => ({ result, ...chart }));
}
