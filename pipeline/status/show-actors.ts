import type { MetricDefinition } from '../../shared/runtime/metrics/define-metric.ts';
import type { MetricsPage } from '../../shared/runtime/metrics/metrics-page.ts';
import { attemptOutcomes } from '../workers/dispatch/sending/attempt-outcome.ts';
import { deliveryMetrics } from '../workers/dispatch/sending/delivery-timings.ts';
import type { TimedMetric } from '../workers/dispatch/sending/delivery-timings.ts';
import { deadLetterReasons } from '../workers/dispatch/outbox/outbox.ts';
import { actorMetrics, pipelineMetrics, summedMetrics } from './metrics.ts';
import type { StatsLedger } from '../supervisor/stats-ledger.ts';
import { combineBy, plus } from './combine-by.ts';
import type { ShownDestinations } from './shown-destinations.ts';

/** Shows what the actors have counted. */
export function showActors(page: MetricsPage, stats: StatsLedger, shown: ShownDestinations): void {
  const { labelOf } = shown;
  const { resolver, dispatcher } = actorMetrics;
  // First on the page of all that is about destinations: it notices which are gone.
  page.show(pipelineMetrics.destinationInfo, (add) => {
    for (const { id, type } of shown.current()) add(1, { destination_id: id, type });
  });
  for (const [stat, definition] of Object.entries(resolver.byStat)) {
    page.show(definition, (add) => {
      for (const [partition, value] of read(stats, stat, definition, resolver.prefix)) add(value, { partition });
    });
  }
  for (const [stat, definition] of Object.entries(dispatcher.byStat)) {
    page.show(definition, (add) => {
      const values = read(stats, stat, definition, dispatcher.prefix);
      for (const [destination_id, value] of combineBy(values, labelOf, plus)) add(value, { destination_id });
    });
  }
  page.show(pipelineMetrics.attempts, (add) => {
    for (const outcome of attemptOutcomes) {
      const values = read(stats, `attempts_${outcome}`, pipelineMetrics.attempts, dispatcher.prefix);
      for (const [destination_id, value] of combineBy(values, labelOf, plus)) add(value, { destination_id, outcome });
    }
  });
  page.show(pipelineMetrics.deadLetters, (add) => {
    for (const reason of deadLetterReasons) {
      const values = read(stats, `dead_letters_${reason}`, pipelineMetrics.deadLetters, dispatcher.prefix);
      for (const [destination_id, value] of combineBy(values, labelOf, plus)) add(value, { destination_id, reason });
    }
  });
  for (const { prefix, byStat } of Object.values(summedMetrics)) {
    for (const [stat, definition] of Object.entries(byStat)) {
      page.show(definition, (add) => add(sum(read(stats, stat, definition, prefix))));
    }
  }
  showTimings(page, stats, shown);
  page.show(pipelineMetrics.seriesDropped, (add) => {
    const { byStat } = dispatcher;
    const each = Object.keys(byStat).length + attemptOutcomes.length + deadLetterReasons.length;
    add(shown.dropped * each);
  });
}

function showTimings(page: MetricsPage, stats: StatsLedger, shown: ShownDestinations): void {
  for (const metric of ['dispatchDuration', 'eventAge'] satisfies TimedMetric[]) {
    const definition = deliveryMetrics[metric];
    page.showHistogram(definition, (add) => {
      const totals = new Map<string, ArrayLike<number>>(stats.timings(metric));
      // A type is there from when its first destination is published, not from its first event.
      for (const { type } of shown.current()) if (!totals.has(type)) totals.set(type, []);
      for (const [destination_type, numbers] of totals) add(numbers, { destination_type });
    });
  }
}

/** Values of one number of the stats, by what stands behind the prefix in the actor's id. */
function* read(
  stats: StatsLedger,
  stat: string,
  { kind }: Pick<MetricDefinition, 'kind'>,
  prefix: string,
): Generator<readonly [id: string, value: number]> {
  const values = kind === 'counter' ? stats.totals(stat, prefix) : stats.values(stat, prefix);
  for (const [actorId, value] of values) yield [actorId.slice(prefix.length), value];
}

function sum(values: Iterable<readonly [id: string, value: number]>): number {
  let total = 0;
  for (const [, value] of values) total += value;
  return total;
}
