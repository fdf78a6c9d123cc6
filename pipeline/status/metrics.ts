import { counter, gauge } from '../../shared/runtime/metrics/define-metric.ts';
import type { MetricDefinition } from '../../shared/runtime/metrics/define-metric.ts';
import { attemptOutcomes } from '../workers/dispatch/sending/attempt-outcome.ts';
import { dispatcherCounters, dispatcherGauges } from '../workers/dispatch/dispatcher-stats.ts';
import { deadLetterReasons } from '../workers/dispatch/outbox/outbox.ts';
import { deliveryMetrics } from '../workers/dispatch/sending/delivery-timings.ts';
import { outcomeCounters, outcomeGauges } from '../workers/recent/outcome-stats.ts';
import { recorderCounters, recorderGauges } from '../workers/recent/recorder-stats.ts';
import { resultsCounters, resultsGauges } from '../workers/results/results-stats.ts';
import { resolverCounters, resolverGauges } from '../workers/resolve/resolver-stats.ts';

/** Metrics of one kind of actor: each is one number of its stats, by the name it is reported under. */
export type ActorMetrics<Label extends string> = {
  /** What the ids of such actors begin with; the rest is the label. */
  readonly prefix: string;
  readonly label: Label;
  readonly byStat: Readonly<Record<string, MetricDefinition<Label>>>;
};

/** Every actor's own figures. */
export const actorMetrics = {
  resolver: perActor('resolver', 'partition', resolverCounters, resolverGauges),
  dispatcher: perActor('dispatcher', 'destination_id', dispatcherCounters, dispatcherGauges),
};

/** Figures of which only the sum over the threads is shown. */
export const summedMetrics = {
  recorder: summed('recorder', recorderCounters, recorderGauges),
  outcomes: summed('outcomes', outcomeCounters, outcomeGauges),
  results: summed('results', resultsCounters, resultsGauges),
};

/** The rest of what the pipeline tells of itself, beside what every service tells. */
export const pipelineMetrics = {
  attempts: counter(
    'sluice_dispatcher_attempts_total',
    `Attempts to deliver an event, by outcome: ${attemptOutcomes.join(', ')}`,
    ['destination_id', 'outcome'],
  ),
  deadLetters: counter(
    'sluice_dispatcher_dead_letters_total',
    `Events put into the dead-letter log, by reason: ${deadLetterReasons.join(', ')}`,
    ['destination_id', 'reason'],
  ),
  ...deliveryMetrics,
  destinationInfo: gauge('sluice_destination_info', 'Always 1; the labels say what kind a destination is of', [
    'destination_id',
    'type',
  ]),
  destinationBacklogFrames: gauge(
    'sluice_destination_backlog_frames',
    'Frames of the log a destination has not finished, as seen by the instance that checks the log',
    ['destination_id'],
  ),
  destinationBacklogEvents: gauge(
    'sluice_destination_backlog_events',
    'Events a destination has not finished: its frames times the recent average of events a frame',
    ['destination_id'],
  ),
  destinationBacklogAge: gauge(
    'sluice_destination_backlog_age_seconds',
    'Age of the oldest frame a destination has not finished; 0 without one',
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
    'Dead letters in the log, by destination; `ingest` for what could not be resolved',
    ['destination_id'],
  ),
  partitionBacklogFrames: gauge(
    'sluice_partition_backlog_frames',
    'Accepted frames a partition has not resolved, as seen by the instance that checks the log',
    ['partition'],
  ),
  partitionBacklogEvents: gauge(
    'sluice_partition_backlog_events',
    'Accepted events a partition has not resolved: its frames times the recent average of events a frame',
    ['partition'],
  ),
  partitionBacklogAge: gauge(
    'sluice_partition_backlog_age_seconds',
    'Age of the oldest frame a partition has not resolved; 0 without one',
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
  backlogLooks: counter('sluice_backlog_looks_total', 'Times the log was checked for backlogs, by result: ok, failed', [
    'result',
  ]),
  actors: gauge('sluice_actors', 'Actors of this instance, by kind and state', ['kind', 'state']),
  actorRestarts: counter('sluice_actor_restarts_total', 'Actors restarted after they failed', ['kind']),
  threads: gauge('sluice_threads', 'Worker threads: ready, and expected', ['state']),
  threadDeaths: counter('sluice_thread_deaths_total', 'Worker threads that died'),
  threadSilence: gauge('sluice_thread_silence_seconds', 'Time since a thread last reported', ['thread']),
  threadHeap: gauge('sluice_thread_heap_bytes', 'JavaScript heap used by a thread', ['thread']),
  threadBusy: gauge('sluice_thread_busy_ratio', 'Share of its last second the event loop of a thread was busy', [
    'thread',
  ]),
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
    'Share of its time the pool has run hosts that ended, which is all piscina counts: 0 as long as none has; see sluice_thread_busy_ratio',
  ),
  cacheLookups: counter('sluice_visitor_cache_lookups_total', 'Visitors looked up in the cache, by result: hit, miss', [
    'result',
  ]),
  cacheVisitors: gauge('sluice_visitor_cache_visitors', 'Visitors in the cache'),
  cacheBytes: gauge('sluice_visitor_cache_bytes', 'Approximate memory of the cache of visitors'),
  cacheBytesLimit: gauge('sluice_visitor_cache_limit_bytes', 'Approximate memory the cache of visitors may take'),
  seriesDropped: counter(
    'sluice_metrics_series_dropped_total',
    'Series of destinations beyond METRICS_DESTINATIONS_MAX, which are summed up under the destination `_other`',
  ),
};

function perActor<const Label extends string>(
  kind: string,
  label: Label,
  counters: Readonly<Record<string, string>>,
  gauges: Readonly<Record<string, string>>,
): ActorMetrics<Label> {
  const counted = Object.entries(counters).map(
    ([stat, help]) => [stat, counter(`sluice_${kind}_${stat}_total`, help, [label])] as const,
  );
  const gauged = Object.entries(gauges).map(
    ([stat, help]) => [stat, gauge(`sluice_${kind}_${stat}`, help, [label])] as const,
  );
  return { prefix: `${kind}-`, label, byStat: Object.fromEntries([...counted, ...gauged]) };
}

function summed(
  kind: string,
  counters: Readonly<Record<string, string>>,
  gauges: Readonly<Record<string, string>>,
): Pick<ActorMetrics<never>, 'prefix' | 'byStat'> {
  const counted = Object.entries(counters).map(
    ([stat, help]) => [stat, counter(`sluice_${kind}_${stat}_total`, help)] as const,
  );
  const gauged = Object.entries(gauges).map(([stat, help]) => [stat, gauge(`sluice_${kind}_${stat}`, help)] as const);
  return { prefix: `${kind}-`, byStat: Object.fromEntries([...counted, ...gauged]) };
}
