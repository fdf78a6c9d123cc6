import { setImmediate } from 'node:timers/promises';
import { Registry } from 'prom-client';
import type { BucketNumbers } from './bucket-counts.ts';
import type { AnyMetric, HistogramDefinition, MetricDefinition } from './define-metric.ts';

const partMs = 5;

/** Adds one series to the page. Two series of a metric with equal labels would make the page invalid. */
export type Add<Label extends string, What = number> = (what: What, ...labels: LabelArguments<Label>) => void;

type LabelArguments<Label extends string> = [Label] extends [never] ? [] : [labels: Labels<Label>];

/**
 * The text of /metrics. Code counts in plain numbers; each definition is shown with a function that reads these numbers
 * at the scrape. Thus a series exists only as long as its subject, and there is no second set of counts.
 */
export class MetricsPage {
  /** Node's own figures, which prom-client collects. They come first on the page. */
  readonly registry = new Registry();
  readonly #shown = new Map<string, () => string>();

  show<Label extends string>(definition: MetricDefinition<Label>, read: (add: Add<Label>) => void): void {
    this.#put(definition, (lines) => {
      read((value, ...[labels]) => void lines.push(seriesText(definition.name, value, labels)));
    });
  }

  showHistogram<Label extends string>(
    definition: HistogramDefinition<Label>,
    read: (add: Add<Label, BucketNumbers>) => void,
  ): void {
    const { name, bounds } = definition;
    this.#put(definition, (lines) => {
      read((numbers, ...[labels]) => void lines.push(...histogramText(name, bounds, numbers, labels)));
    });
  }

  /** Yields between metrics, because all series of a thousand destinations in one turn would block the event loop. */
  async text(): Promise<string> {
    const parts = [await this.registry.metrics()];
    let begunMs = performance.now();
    for (const write of this.#shown.values()) {
      parts.push(write());
      if (performance.now() - begunMs < partMs) continue;
      await setImmediate();
      begunMs = performance.now();
    }
    return `${parts.join('\n')}\n`;
  }

  #put(definition: AnyMetric, writeSeries: (lines: string[]) => void): void {
    const { name } = definition;
    if (this.#shown.has(name)) throw new Error(`showing a metric: ${name} is on the page already`);
    this.#shown.set(name, () => {
      const lines = [headText(definition)];
      writeSeries(lines);
      return `${lines.join('\n')}\n`;
    });
  }
}

/** Values of the labels of one series, by name. */
type Labels<Label extends string = string> = Readonly<Record<Label, string | number>>;

/**
 * The lines that begin a metric in the Prometheus text format (exposition format 0.0.4). A thousand destinations have
 * tens of thousands of lines, so the code below appends to strings: lists of labels take several times as long.
 */
export function headText({ name, help, kind }: AnyMetric): string {
  return `# HELP ${name} ${escapeBreaks(help)}\n# TYPE ${name} ${kind}`;
}

/** One series of a counter or a gauge. */
export function seriesText(name: string, value: number, labels?: Labels): string {
  const inside = labelsText(labels);
  return inside === '' ? `${name} ${numberText(value)}` : `${name}{${inside}} ${numberText(value)}`;
}

/** The lines of one series of a histogram: rising buckets, the sum and the count. */
export function histogramText(
  name: string,
  bounds: readonly number[],
  numbers: BucketNumbers,
  labels?: Labels,
): readonly string[] {
  const inside = labelsText(labels);
  const [behind, around] = inside === '' ? ['', ''] : [`,${inside}`, `{${inside}}`];
  let count = 0;
  const lines = bounds.map((le, at) => {
    count += numbers[at] ?? 0;
    return `${name}_bucket{le="${le}"${behind}} ${numberText(count)}`;
  });
  count += numbers[bounds.length] ?? 0;
  return [
    ...lines,
    `${name}_bucket{le="+Inf"${behind}} ${numberText(count)}`,
    `${name}_sum${around} ${numberText(numbers[bounds.length + 1] ?? 0)}`,
    `${name}_count${around} ${numberText(count)}`,
  ];
}

function labelsText(labels: Labels | undefined): string {
  let text = '';
  for (const name in labels) {
    text += `${text === '' ? '' : ','}${name}="${escapeLabel(labels[name])}"`;
  }
  return text;
}

const special = /[\\\n"]/;

function escapeLabel(value: string | number | undefined): string {
  const text = String(value);
  return special.test(text) ? escapeBreaks(text).replaceAll('"', String.raw`\"`) : text;
}

function escapeBreaks(text: string): string {
  return text.replaceAll('\\', String.raw`\\`).replaceAll('\n', String.raw`\n`);
}

function numberText(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}
