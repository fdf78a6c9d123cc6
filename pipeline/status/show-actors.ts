import type { MetricDefinition } from '../../shared/runtime/metrics/define-metric.ts';
import type { MetricsPage } from '../../shared/runtime/metrics/metrics-page.ts';
import { deliveryMetrics } from '../workers/dispatch/sending/delivery-timings.ts';
import type { TimedMetric } from '../workers/dispatch/sending/delivery-timings.ts';
import type { OutcomeCounter, OutcomeGauge } from '../workers/recent/outcome-stats.ts';
import { workerOf } from '../workers/registry.ts';
import type { AnyWorker, CounterOf, GaugeOf, WorkerKind } from '../workers/registry.ts';
import { outcomeMetrics, pipelineMetrics, workerMetrics } from './metrics.ts';
import type { WorkerMetrics } from './metrics.ts';
import type { StatsLedger } from '../supervisor/stats-ledger.ts';
import { combineBy, plus } from './combine-by.ts';
import type { ShownDestinations } from './shown-destinations.ts';

/** Shows what the actors have counted. */
export function showActors(page: MetricsPage, stats: StatsLedger, shown: ShownDestinations): void {
  // Before all other metrics of destinations, because `current` notices which destinations are gone.
  page.show(pipelineMetrics.destinationInfo, (add) => {
    for (const { id, type, name } of shown.current()) add(1, { destination_id: id, type, name });
  });
  for (const [kind, metrics] of workerMetrics) showKind(page, kind, metrics, { stats, shown });
  for (const [stat, definition] of Object.entries(outcomeMetrics.counters)) {
    page.show(definition, (add) => add(stats.outcomes(stat as OutcomeCounter)));
  }
  for (const [stat, definition] of Object.entries(outcomeMetrics.gauges)) {
    page.show(definition, (add) => {
      add(sum([...stats.threads.values()].map(({ outcomes }) => outcomes[stat as OutcomeGauge])));
    });
  }
  showTimings(page, stats, shown);
  page.show(pipelineMetrics.seriesDropped, (add) => add(shown.dropped * seriesOfDestination()));
}

type Sources = { readonly stats: StatsLedger; readonly shown: ShownDestinations };

function showKind(page: MetricsPage, kind: WorkerKind, metrics: WorkerMetrics, { stats, shown }: Sources): void {
  const { label } = workerOf(kind);
  const read = (stat: string, definition: MetricDefinition): ReadonlyMap<string, number> =>
    definition.kind === 'counter'
      ? stats.totals(kind, stat as CounterOf<WorkerKind>)
      : stats.values(kind, stat as GaugeOf<WorkerKind>);
  type Shown = readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[];
  const readShown = (stat: string, definition: MetricDefinition): Shown => {
    const values = read(stat, definition);
    const combine = combining(definition);
    if (label === undefined) return [[{}, [...values.values()].reduce(combine, 0)]];
    return [...byLabel(label, values, shown, combine)].map(([key, value]) => [{ [label]: key }, value]);
  };
  for (const [stat, definition] of Object.entries(metrics.byStat)) {
    page.show(definition, (add) => {
      for (const [labels, value] of readShown(stat, definition)) add(value, labels);
    });
  }
  for (const [stat, definition] of Object.entries(metrics.byAccount)) {
    page.show(definition, (add) => {
      const values = definition.kind === 'counter' ? stats.accountTotals(kind, stat) : stats.accountValues(kind, stat);
      for (const [accountId, value] of values) add(value, { account_id: accountId });
    });
  }
  for (const [stat, { definition, label: own }] of metrics.byName) {
    page.show(definition, (add) => {
      for (const name of stats.namesOf(kind, stat)) {
        const values = readShown(`${stat}:${name}`, definition);
        for (const [labels, value] of values) add(value, { ...labels, [own]: name });
      }
    });
  }
  for (const { definition, label: own, stats: statOf } of metrics.families) {
    page.show(definition, (add) => {
      for (const [ownValue, stat] of statOf) {
        for (const [labels, value] of readShown(stat, definition)) add(value, { ...labels, [own]: ownValue });
      }
    });
  }
}

/** Values by the label of each actor's key; destinations without a label of their own share a label. */
function byLabel(
  label: NonNullable<AnyWorker['label']>,
  values: ReadonlyMap<string, number>,
  { labelOf }: ShownDestinations,
  combine: Combine,
): ReadonlyMap<string, number> {
  switch (label) {
    case 'partition':
      return values;
    case 'destination_id':
      return combineBy(values, labelOf, combine);
  }
}

type Combine = (a: number, b: number) => number;

/** Ages and lags are not added up: the longest one counts. */
const combining = ({ kind, name }: MetricDefinition): Combine =>
  kind === 'gauge' && name.endsWith('_seconds') ? Math.max : plus;

/** Number of series that a destination with a label of its own has. */
function seriesOfDestination(): number {
  let series = 0;
  for (const [kind, { byStat, families }] of workerMetrics) {
    if (workerOf(kind).label !== 'destination_id') continue;
    series += Object.keys(byStat).length + sum(families.map(({ stats }) => stats.size));
  }
  return series;
}

function showTimings(page: MetricsPage, stats: StatsLedger, shown: ShownDestinations): void {
  for (const metric of ['dispatchDuration', 'eventAge'] satisfies TimedMetric[]) {
    const definition = deliveryMetrics[metric];
    page.showHistogram(definition, (add) => {
      const totals = new Map<string, ArrayLike<number>>(stats.timings(metric));
      // A type is shown once its first destination is published, even before its first event.
      for (const { type } of shown.current()) if (!totals.has(type)) totals.set(type, []);
      for (const [destination_type, numbers] of totals) add(numbers, { destination_type });
    });
  }
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
