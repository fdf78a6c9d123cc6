/**
 * What a metric is, apart from where its numbers come from: the reference table, the pages and the checks of alerts and
 * dashboards are made from it. Labels are closed sets; an id of a destination may stand in one, a visitor, an event's
 * name or an address never does.
 */
export type MetricDefinition<Label extends string = string> = {
  readonly kind: 'counter' | 'gauge';
  /** `sluice_<noun>_<unit>`, a counter with `_total` behind it. */
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

/** Something that only grows. */
export function counter<const Labels extends readonly string[] = readonly []>(
  name: string,
  help: string,
  labels?: Labels,
): MetricDefinition<Labels[number]> {
  return { kind: 'counter', name, help, labels: labels ?? [] };
}

/** Something that goes up and down. */
export function gauge<const Labels extends readonly string[] = readonly []>(
  name: string,
  help: string,
  labels?: Labels,
): MetricDefinition<Labels[number]> {
  return { kind: 'gauge', name, help, labels: labels ?? [] };
}

/** How often something took how long. */
export function histogram<const Labels extends readonly string[] = readonly []>(
  name: string,
  help: string,
  bounds: readonly number[],
  labels?: Labels,
): HistogramDefinition<Labels[number]> {
  return { kind: 'histogram', name, help, bounds, labels: labels ?? [] };
}
