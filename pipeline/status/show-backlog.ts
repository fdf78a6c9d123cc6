import type { MetricDefinition } from '../../shared/runtime/metrics/define-metric.ts';
import type { MetricsPage } from '../../shared/runtime/metrics/metrics-page.ts';
import type { StreamState } from '../../shared/nats/streams/stream-progress.ts';
import { streams as logStreams } from '../../shared/nats/streams/topology.ts';
import { workerOf } from '../workers/registry.ts';
import type { WorkerKind } from '../workers/registry.ts';
import type { Backlog, BacklogWatch } from '../jobs/backlog/backlog-watch.ts';
import { pipelineMetrics } from './metrics.ts';
import type { DeadLetterQuota } from '../jobs/retention/dead-letter-quota.ts';
import type { Retention } from '../jobs/retention/retention.ts';
import type { ShownDestinations } from './shown-destinations.ts';
import { combineBy, plus } from './combine-by.ts';

/** The jobs that make room in the log. */
export type Quotas = {
  readonly retention: Pick<Retention, 'removed' | 'late'>;
  readonly deadLetterQuota: Pick<DeadLetterQuota, 'removed' | 'full'>;
  readonly quarantineQuota: Pick<DeadLetterQuota, 'removed' | 'full'>;
};

/** Shows the backlogs of the log. */
export function showBacklog(
  page: MetricsPage,
  watch: BacklogWatch,
  { retention, deadLetterQuota, quarantineQuota }: Quotas,
  shown: ShownDestinations,
): void {
  showPartitions(page, watch);
  showDestinationBacklogs(page, watch, shown);
  const stream = (definition: MetricDefinition<'stream'>, read: (state: StreamState) => number | undefined): void => {
    page.show(definition, (add) => {
      for (const [name, state] of watch.streams) {
        const value = read(state);
        if (value !== undefined) add(value, { stream: name });
      }
    });
  };
  stream(pipelineMetrics.logBytes, ({ bytes }) => bytes);
  stream(pipelineMetrics.logLimitBytes, ({ bytesMax }) => bytesMax);
  stream(pipelineMetrics.logMessages, ({ messages }) => messages);
  stream(pipelineMetrics.logLastSequence, ({ lastSeq }) => lastSeq);
  page.show(pipelineMetrics.logLostBytes, (add) => {
    for (const [name, bytes] of watch.lostBytes) add(bytes, { stream: name });
  });
  page.show(pipelineMetrics.logRemoved, (add) => {
    for (const name of ['INGEST', 'EVENTS']) add(retention.removed.get(name) ?? 0, { stream: name });
  });
  page.show(pipelineMetrics.readersLate, (add) => add(retention.late));
  page.show(pipelineMetrics.deadLettersRemoved, (add) => add(deadLetterQuota.removed));
  page.show(pipelineMetrics.deadLetterSharesFull, (add) => add(deadLetterQuota.full));
  page.show(pipelineMetrics.quarantineRemoved, (add) => add(quarantineQuota.removed));
  page.show(pipelineMetrics.quarantineSharesFull, (add) => add(quarantineQuota.full));
  page.show(pipelineMetrics.backlogLooks, (add) => {
    add(watch.looks.ok, { result: 'ok' });
    add(watch.looks.failed, { result: 'failed' });
  });
}

function showPartitions(page: MetricsPage, watch: BacklogWatch): void {
  const each = (definition: MetricDefinition<'partition'>, read: (backlog: Backlog) => number): void => {
    page.show(definition, (add) => {
      for (const [partition, backlog] of readersOf(watch, 'resolver')) add(read(backlog), { partition });
    });
  };
  each(pipelineMetrics.partitionBacklogFrames, ({ frames }) => frames);
  each(pipelineMetrics.partitionBacklogEvents, ({ events }) => events);
  each(pipelineMetrics.partitionBacklogAge, ageS);
  each(pipelineMetrics.partitionUnacknowledged, ({ unacknowledged }) => unacknowledged);
  each(pipelineMetrics.partitionUnacknowledgedLimit, ({ unacknowledgedMax }) => unacknowledgedMax);
}

function showDestinationBacklogs(page: MetricsPage, watch: BacklogWatch, { labelOf }: ShownDestinations): void {
  const each = (
    definition: MetricDefinition<'destination_id'>,
    read: (backlog: Backlog) => number,
    combine = plus,
  ): void => {
    page.show(definition, (add) => {
      const values = readersOf(watch, 'dispatcher').map(([id, backlog]) => [id, read(backlog)] as const);
      for (const [destination_id, value] of combineBy(values, labelOf, combine)) add(value, { destination_id });
    });
  };
  each(pipelineMetrics.destinationBacklogFrames, ({ frames }) => frames);
  each(pipelineMetrics.destinationBacklogEvents, ({ events }) => events);
  each(pipelineMetrics.destinationBacklogAge, ageS, Math.max);
  each(pipelineMetrics.destinationUnacknowledged, ({ unacknowledged }) => unacknowledged);
  each(pipelineMetrics.destinationUnacknowledgedLimit, ({ unacknowledgedMax }) => unacknowledgedMax);
  page.show(pipelineMetrics.destinationRetries, (add) => {
    // Destinations without retries are shown as well.
    const values = readersOf(watch, 'dispatcher').map(([id]) => [id, watch.retries.get(id) ?? 0] as const);
    for (const [destination_id, value] of combineBy(values, labelOf, plus)) add(value, { destination_id });
  });
  page.show(pipelineMetrics.deadLettersKept, (add) => {
    if (watch.streams.size === 0) return;
    const ids = readersOf(watch, 'dispatcher').map(([id]) => id);
    const values = ids.map((id) => [id, watch.deadLetters.get(id) ?? 0] as const);
    for (const [destination_id, value] of combineBy(values, labelOf, plus)) add(value, { destination_id });
    add(watch.streams.get(logStreams.ingestDeadLetters)?.messages ?? 0, { destination_id: 'ingest' });
  });
}

/** Backlogs of one kind of actor, by the actors' keys. */
function readersOf({ backlogs }: BacklogWatch, kind: WorkerKind): (readonly [string, Backlog])[] {
  const { consumer } = workerOf(kind);
  return [...backlogs].flatMap(([name, backlog]) => {
    const key = consumer.keyOf(name);
    return key === undefined ? [] : [[key, backlog] as const];
  });
}

function ageS({ oldestAtMs }: Backlog): number {
  return oldestAtMs === undefined ? 0 : Math.max(0, (Date.now() - oldestAtMs) / 1_000);
}
