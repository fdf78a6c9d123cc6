import { counter, gauge } from '../../shared/runtime/metrics/define-metric.ts';
import type { MetricDefinition } from '../../shared/runtime/metrics/define-metric.ts';
import { deliveryMetrics } from '../workers/dispatch/sending/delivery-timings.ts';
import { outcomeCounters, outcomeGauges } from '../workers/recent/outcome-stats.ts';
import { workerKinds, workerOf } from '../workers/registry.ts';
import type { AnyWorker, WorkerKind } from '../workers/registry.ts';

/** Metrics of one kind of worker. */
export type WorkerMetrics = {
  /** Metrics of single numbers, by the name under which actors report the number. */
  readonly byStat: Readonly<Record<string, MetricDefinition>>;
  /** Metrics that each combine several reported numbers, distinguished by a label. */
  readonly families: readonly FamilyMetric[];
  /** Metrics with one number per account, by the part of the reported name before the account's id. */
  readonly byAccount: Readonly<Record<string, MetricDefinition>>;
  /**
   * Metrics with one number per name that actors encounter, such as a purpose; by the part of the reported name before
   * that name.
   */
  readonly byName: ReadonlyMap<string, { readonly definition: MetricDefinition; readonly label: string }>;
};

export type FamilyMetric = {
  readonly definition: MetricDefinition;
  readonly label: string;
  /** For each value of the label, the name under which actors report the number. */
  readonly stats: ReadonlyMap<string, string>;
};

/** The metrics of each kind of actor: one series per actor key, or a sum if the kind has no label. */
export const workerMetrics: ReadonlyMap<WorkerKind, WorkerMetrics> = new Map(
  workerKinds.map((kind) => [kind, metricsOf(workerOf(kind))]),
);

/** Sums over the outcome recorders, of which each thread has one. */
export const outcomeMetrics = {
  counters: tableOf(outcomeCounters, (stat, help) => counter(`sluice_outcomes_${stat}_total`, help)),
  gauges: tableOf(outcomeGauges, (stat, help) => gauge(`sluice_outcomes_${stat}`, help)),
};

/** Metrics of the pipeline only; every service has the common ones. */
export const pipelineMetrics = {
  ...deliveryMetrics,
  destinationInfo: gauge('sluice_destination_info', 'Always 1; the labels are the kind and the name of a destination', [
    'destination_id',
    'type',
    'name',
  ]),
  destinationBacklogFrames: gauge(
    'sluice_destination_backlog_frames',
    'Frames of the log a destination has not finished, as seen by the instance that checks the log',
    ['destination_id'],
  ),
  destinationBacklogEvents: gauge(
    'sluice_destination_backlog_events',
    'Events a destination has not finished: its frames times the recent average of events per frame',
    ['destination_id'],
  ),
  destinationBacklogAge: gauge(
    'sluice_destination_backlog_age_seconds',
    'Age of the oldest frame a destination has not finished; 0 if there is none',
    ['destination_id'],
  ),
  destinationUnacknowledged: gauge(
    'sluice_destination_unacknowledged_frames',
    'Frames a destination was given and has not acknowledged',
    ['destination_id'],
  ),
  destinationUnacknowledgedLimit: gauge(
    'sluice_destination_unacknowledged_limit_frames',
    'Frames a destination may be given before it acknowledges one',
    ['destination_id'],
  ),
  destinationRetries: gauge(
    'sluice_destination_retries_waiting_frames',
    'Frames of the retry log that wait for another attempt; one event each, or more after a storm of failures',
    ['destination_id'],
  ),
  deadLettersKept: gauge(
    'sluice_dead_letters_kept_messages',
    'Dead letters in the log, by destination; `ingest` for events that could not be resolved',
    ['destination_id'],
  ),
  partitionBacklogFrames: gauge(
    'sluice_partition_backlog_frames',
    'Accepted frames a partition has not resolved, as seen by the instance that checks the log',
    ['partition'],
  ),
  partitionBacklogEvents: gauge(
    'sluice_partition_backlog_events',
    'Accepted events a partition has not resolved: its frames times the recent average of events per frame',
    ['partition'],
  ),
  partitionBacklogAge: gauge(
    'sluice_partition_backlog_age_seconds',
    'Age of the oldest frame a partition has not resolved; 0 if there is none',
    ['partition'],
  ),
  partitionUnacknowledged: gauge(
    'sluice_partition_unacknowledged_frames',
    'Frames the resolver of a partition was given and has not acknowledged',
    ['partition'],
  ),
  partitionUnacknowledgedLimit: gauge(
    'sluice_partition_unacknowledged_limit_frames',
    'Frames the resolver of a partition may be given before it acknowledges one',
    ['partition'],
  ),
  logBytes: gauge('sluice_log_bytes', 'Bytes a stream holds, before replication', ['stream']),
  logLimitBytes: gauge('sluice_log_limit_bytes', 'Bytes a stream may hold; the log refuses more', ['stream']),
  logMessages: gauge('sluice_log_messages', 'Messages a stream holds', ['stream']),
  logLastSequence: gauge('sluice_log_last_sequence', 'Sequence of the newest message of a stream', ['stream']),
  logLostBytes: gauge(
    'sluice_log_lost_bytes',
    'Bytes of a stream that nats-server has found damaged or missing since its start',
    ['stream'],
  ),
  logRemoved: counter(
    'sluice_log_removed_messages_total',
    'Messages removed because every consumer had finished with them',
    ['stream'],
  ),
  readersLate: gauge(
    'sluice_log_readers_late',
    'Readers of EVENTS whose backlog exceeded its limit at the last check; destinations among them skip it',
  ),
  deadLettersRemoved: counter(
    'sluice_dead_letters_removed_total',
    'Dead letters removed to make room: of accounts over their quota, and of deleted destinations',
  ),
  deadLetterSharesFull: gauge(
    'sluice_dead_letters_shares_full',
    'Destinations, and accounts in a partition of ingest, whose oldest dead letters were removed at the last check',
  ),
  quarantineRemoved: counter(
    'sluice_quarantine_removed_total',
    'Quarantined events removed to make room, the oldest of accounts over their quota',
  ),
  quarantineSharesFull: gauge(
    'sluice_quarantine_shares_full',
    'Rules and partitions of which the oldest quarantined events were removed at the last check',
  ),
  backlogLooks: counter('sluice_backlog_looks_total', 'Times the log was checked for backlogs, by result: ok, failed', [
    'result',
  ]),
  actors: gauge('sluice_actors', 'Actors of this instance, by kind and state', ['kind', 'state']),
  actorRestarts: counter('sluice_actor_restarts_total', 'Actors restarted after they failed', ['kind']),
  threads: gauge('sluice_threads', 'Worker threads: ready, and expected', ['state']),
  threadDeaths: counter('sluice_thread_deaths_total', 'Worker threads that died'),
  silentDeaths: counter(
    'sluice_thread_silent_deaths_total',
    'Worker threads that were ended because they did not report for 8 seconds',
  ),
  threadSilence: gauge('sluice_thread_silence_seconds', 'Time since a thread last reported', ['thread']),
  threadHeap: gauge('sluice_thread_heap_bytes', 'JavaScript heap used by a thread', ['thread']),
  threadBusy: gauge(
    'sluice_thread_busy_ratio',
    'Fraction of the last second in which the event loop of a thread was busy',
    ['thread'],
  ),
  threadDelayP99: gauge(
    'sluice_thread_event_loop_delay_p99_seconds',
    'How late the event loop of a thread was in its last second, 99th percentile',
    ['thread'],
  ),
  threadDelayMax: gauge(
    'sluice_thread_event_loop_delay_max_seconds',
    'How late the event loop of a thread was in its last second, at worst',
    ['thread'],
  ),
  threadLogConnected: gauge(
    'sluice_thread_log_connected',
    '1 while the connection of a thread to the log is up, else 0',
    ['thread'],
  ),
  poolThreads: gauge('sluice_pool_threads', 'Threads of the pool, one host each'),
  poolQueue: gauge('sluice_pool_queue_tasks', 'Hosts that wait for a thread'),
  poolCompleted: counter('sluice_pool_completed_tasks_total', 'Hosts that ended'),
  poolUtilization: gauge(
    'sluice_pool_utilization_ratio',
    'Utilization as piscina counts it, from hosts that have ended: 0 until one has. For running hosts see sluice_thread_busy_ratio',
  ),
  cacheLookups: counter(
    'sluice_visitor_cache_lookups_total',
    'Visitors looked up in the cache, by result: hit, confirmed (found, and checked in the database), miss',
    ['result'],
  ),
  cacheVisitors: gauge('sluice_visitor_cache_visitors', 'Visitors in the cache'),
  cacheBytes: gauge('sluice_visitor_cache_bytes', 'Approximate memory of the cache of visitors'),
  cacheBytesLimit: gauge('sluice_visitor_cache_limit_bytes', 'Approximate memory limit of the visitor cache'),
  seriesDropped: counter(
    'sluice_metrics_series_dropped_total',
    'Series of destinations beyond the first 1,000, which are summed up under the destination `_other`',
  ),
};

function metricsOf({
  kind,
  label,
  counters,
  gauges,
  families,
  accountCounters = {},
  accountGauges = {},
  namedCounters = {},
}: AnyWorker): WorkerMetrics {
  const labels = label === undefined ? [] : [label];
  return {
    byStat: {
      ...tableOf(counters, (stat, help) => counter(`sluice_${kind}_${stat}_total`, help, labels)),
      ...tableOf(gauges, (stat, help) => gauge(`sluice_${kind}_${stat}`, help, labels)),
    },
    families: Object.entries(families).map(([name, { help, label: own, values }]) => ({
      definition: counter(`sluice_${kind}_${name}_total`, help, [...labels, own]),
      label: own,
      stats: new Map(values.map((value) => [value, `${name}_${value}`])),
    })),
    byName: new Map(
      Object.entries(namedCounters).map(([name, { help, label: own }]) => [
        name,
        { definition: counter(`sluice_${kind}_${name}_total`, help, [...labels, own]), label: own },
      ]),
    ),
    byAccount: {
      ...tableOf(accountCounters, (stat, help) =>
        counter(`sluice_${kind}_account_${stat}_total`, help, ['account_id']),
      ),
      ...tableOf(accountGauges, (stat, help) => gauge(`sluice_${kind}_account_${stat}`, help, ['account_id'])),
    },
  };
}

function tableOf<Stat extends string, Definition>(
  helps: Readonly<Record<Stat, string>>,
  define: (stat: string, help: string) => Definition,
): Readonly<Record<Stat, Definition>> {
  const entries = Object.entries<string>(helps).map(([stat, help]) => [stat, define(stat, help)] as const);
  return Object.fromEntries(entries) as Record<Stat, Definition>;
}
