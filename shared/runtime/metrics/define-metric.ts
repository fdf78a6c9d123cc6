/**
 * Definition of a metric, without the source of its numbers. The reference, the pages and the checks of alerts and
 * dashboards derive from definitions. Values of labels are closed sets or ids of destinations, never a visitor, an
 * event's name or an address.
 */
export type MetricDefinition<Label extends string = string> = {
  readonly kind: 'counter' | 'gauge';
  /** `sluice_<noun>_<unit>`; the name of a counter ends in `_total`. */
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Label[];
};

export type HistogramDefinition<Label extends string = string> = Omit<MetricDefinition<Label>, 'kind'> & {
  readonly kind: 'histogram';
  /** Upper bounds of the buckets, rising. */
  readonly bounds: readonly number[];
};

export type AnyMetric = MetricDefinition | HistogramDefinition;

/** Declares a counter: it counts since the start of the process, and its name ends in `_total`. */
export function counter<const Labels extends readonly string[] = readonly []>(
  name: string,
  help: string,
  labels?: Labels,
): MetricDefinition<Labels[number]> {
  return { kind: 'counter', name, help, labels: labels ?? [] };
}

/** Declares a gauge: a value at the moment of the scrape. */
export function gauge<const Labels extends readonly string[] = readonly []>(
  name: string,
  help: string,
  labels?: Labels,
): MetricDefinition<Labels[number]> {
  return { kind: 'gauge', name, help, labels: labels ?? [] };
}

/** A histogram, usually of durations. */
export function histogram<const Labels extends readonly string[] = readonly []>(
  name: string,
  help: string,
  bounds: readonly number[],
  labels?: Labels,
): HistogramDefinition<Labels[number]> {
  return { kind: 'histogram', name, help, bounds, labels: labels ?? [] };
}
