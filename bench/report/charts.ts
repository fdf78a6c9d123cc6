import type { Point, Series, Unit } from '../result/result.ts';
import type { StoredResult } from '../result/stored-result.ts';

/** A line of a chart; `subject` is the index of its row in the result. */
type ChartLine = { readonly label: string; readonly subject: number; readonly points: readonly Point[] };

/** A chart of a page: lines over the seconds of a measurement. */
export type Chart = {
  /** Index of the chart's result on the page. */
  readonly result: number;
  readonly title: string;
  readonly unit: Unit;
  readonly lines: readonly ChartLine[];
};

const titles: Readonly<Record<Series['chart'], string>> = {
  throughput: 'Throughput',
  latency: 'Latency',
  memory: 'Memory (resident)',
  'proportional-memory': 'Memory (PSS: shared pages in proportion)',
  backlog: 'Backlog',
};

/** The charts of a result: one per kind and unit, with the lines of all subjects. */
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

/**
 * Script of the page, which draws the charts that it finds as JSON, with names inserted as text only. A subject has the
 * same colour in all charts; its second and third lines are dashed.
 */
export const drawChartsScript = `
(() => {
  const colours = ['#1f6feb', '#d1242f', '#1a7f37', '#b07c00', '#8250df', '#bf3989', '#0a7ea4', '#6e7781', '#7a4b24', '#3fb950'];
  const dashes = [[], [6, 4], [2, 3]];
  const units = {
    per_s: (v) => v.toLocaleString('en-US', { maximumFractionDigits: 0 }) + '/s',
    ns: (v) => v + ' ns', ms: (v) => v.toLocaleString('en-US') + ' ms', s: (v) => v + ' s',
    count: (v) => v.toLocaleString('en-US'), ratio: (v) => String(v),
    bytes: (v) => v.toLocaleString('en-US', { maximumFractionDigits: 1 }) + ' MiB',
  };
  const style = getComputedStyle(document.documentElement);
  const axis = { stroke: style.getPropertyValue('--ink'), grid: { stroke: style.getPropertyValue('--rule'), width: 1 } };
  const places = [...document.querySelectorAll('.charts')];
  for (const chart of JSON.parse(document.getElementById('charts').textContent)) {
    const place = places.find((each) => each.dataset.result === String(chart.result));
    const format = units[chart.unit];
    const scale = chart.unit === 'bytes' ? 1 / 1048576 : 1;
    const tables = chart.lines.map(({ points }) => [points.map((p) => p[0]), points.map((p) => p[1] === null ? null : p[1] * scale)]);
    const data = tables.length === 1 ? tables[0] : uPlot.join(tables);
    const host = document.createElement('div');
    place.append(host);
    const seen = new Map();
    const nth = (subject) => { seen.set(subject, (seen.get(subject) ?? -1) + 1); return seen.get(subject); };
    new uPlot({
      title: chart.title, width: Math.min(660, document.body.clientWidth - 40), height: 260,
      scales: { x: { time: false }, y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.1 : 1] } },
      axes: [{ ...axis, label: 'seconds' }, { ...axis, size: 80, values: (_u, ticks) => ticks.map(format) }],
      series: [{ label: 's', value: (_u, v) => v === null ? '' : v.toFixed(1) },
        ...chart.lines.map(({ label, subject }) => ({
          label, stroke: colours[subject % colours.length], width: 1.5, spanGaps: true, points: { show: false },
          dash: dashes[nth(subject) % dashes.length],
          value: (_u, v) => v === null || v === undefined ? '' : format(Math.round(v * 100) / 100),
        }))],
    }, data, host);
  }
})();
`;
