import { setImmediate } from 'node:timers/promises';
import { Registry } from 'prom-client';
import type { BucketNumbers } from './bucket-counts.ts';
import type { AnyMetric, HistogramDefinition, MetricDefinition } from './define-metric.ts';
import { headText, histogramText, seriesText } from './series-text.ts';
import type { Labels } from './series-text.ts';

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
  /** Of Node's own figures, which prom-client collects. They stand first on the page. */
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

  /** Written a part at a time: with a thousand destinations all of it at once would hold up everything else. */
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
