import { setImmediate } from 'node:timers/promises';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { BucketNumbers } from './bucket-counts.ts';
import type { HistogramDefinition, MetricDefinition } from './define-metric.ts';

type Labels<Label extends string> = Readonly<Record<Label, string | number>>;
type Value = { readonly value: number; readonly labels: Record<string, string | number> };
type BucketValue = Value & { readonly metricName: string; readonly sharedLabels: Labels<string> };

const partMs = 5;

/** Puts one series on the page. The same labels twice would make the page unreadable. */
export type Add<Label extends string, What = number> = (what: What, ...labels: LabelArguments<Label>) => void;

type LabelArguments<Label extends string> = [Label] extends [never] ? [] : [labels: Labels<Label>];

/**
 * The text of /metrics. What is counted is counted where it happens, in plain numbers; each definition is shown with a
 * function that reads them when somebody looks. So a series is there as long as what it is about, and there is no second
 * bookkeeping that could differ.
 */
export class MetricsPage {
  readonly registry = new Registry();

  show<Label extends string>(definition: MetricDefinition<Label>, read: (add: Add<Label>) => void): void {
    const { kind, name, help } = definition;
    const options = { name, help, labelNames: [...definition.labels], registers: [] };
    const values = (): Value[] => {
      const found: Value[] = [];
      read((value, ...labels) => found.push({ value, labels: labelsIn(labels) }));
      return found;
    };
    this.registry.registerMetric(
      kind === 'counter' ? new ShownCounter(options, values) : new ShownGauge(options, values),
    );
  }

  showHistogram<Label extends string>(
    definition: HistogramDefinition<Label>,
    read: (add: Add<Label, BucketNumbers>) => void,
  ): void {
    const { name, help, bounds } = definition;
    const options = {
      name,
      help,
      labelNames: [...definition.labels],
      buckets: [...bounds],
      registers: [],
    };
    const values = (): BucketValue[] => {
      const found: BucketValue[] = [];
      read((numbers, ...labels) => addSeries(found, name, bounds, numbers, labelsIn(labels)));
      return found;
    };
    this.registry.registerMetric(new ShownHistogram(options, values));
  }

  /** Written a part at a time: with a thousand destinations all of it at once would hold up everything else. */
  async text(): Promise<string> {
    const parts: string[] = [];
    let begunMs = performance.now();
    for (const { name } of this.registry.getMetricsAsArray()) {
      parts.push(await this.registry.getSingleMetricAsString(name));
      if (performance.now() - begunMs < partMs) continue;
      await setImmediate();
      begunMs = performance.now();
    }
    return `${parts.join('\n\n')}\n`;
  }
}

const noLabels = {};

function labelsIn(given: readonly unknown[]): Record<string, string | number> {
  return (given[0] as Record<string, string | number> | undefined) ?? noLabels;
}

class ShownCounter extends Counter {
  readonly #values: () => Value[];

  constructor(options: ConstructorParameters<typeof Counter>[0], values: () => Value[]) {
    super(options);
    this.#values = values;
  }

  override async get(): ReturnType<Counter['get']> {
    return { ...(await super.get()), values: this.#values() };
  }
}

class ShownGauge extends Gauge {
  readonly #values: () => Value[];

  constructor(options: ConstructorParameters<typeof Gauge>[0], values: () => Value[]) {
    super(options);
    this.#values = values;
  }

  override async get(): ReturnType<Gauge['get']> {
    return { ...(await super.get()), values: this.#values() };
  }
}

class ShownHistogram extends Histogram {
  readonly #about: { readonly name: string; readonly help: string };
  readonly #values: () => BucketValue[];

  constructor(options: ConstructorParameters<typeof Histogram>[0], values: () => BucketValue[]) {
    super(options);
    this.#about = { name: options.name, help: options.help };
    this.#values = values;
  }

  /** What the registry asks a histogram for; `get` is made of it. */
  getForPromString(): Promise<object> {
    return Promise.resolve({ ...this.#about, type: 'histogram', aggregator: 'sum', values: this.#values() });
  }
}

function addSeries(
  into: BucketValue[],
  name: string,
  bounds: readonly number[],
  numbers: BucketNumbers,
  sharedLabels: Labels<string>,
): void {
  let count = 0;
  const bucket = (le: number | string): void => {
    into.push({ metricName: `${name}_bucket`, value: count, labels: { le }, sharedLabels });
  };
  bounds.forEach((le, at) => {
    count += numbers[at] ?? 0;
    bucket(le);
  });
  count += numbers[bounds.length] ?? 0;
  bucket('+Inf');
  const sum = numbers[bounds.length + 1] ?? 0;
  into.push({ metricName: `${name}_sum`, value: sum, labels: {}, sharedLabels });
  into.push({ metricName: `${name}_count`, value: count, labels: {}, sharedLabels });
}
