import { dashboard } from './panel.ts';

/** The pipeline's threads and actors: how many to run, and which are unhealthy. */
export const workerPool = dashboard('sluice-worker-pool', 'Sluice / Worker pool', [
  {
    title: 'Threads',
    panels: [
      {
        title: 'Busy',
        description:
          'Fraction of time that the event loop of each thread is busy. All near 1: add threads or instances.',
        kind: 'timeseries',
        unit: 'percentunit',
        queries: [{ expr: 'sluice_thread_busy_ratio', legend: '{{instance}} thread {{thread}}' }],
      },
      {
        title: 'Event loop delay',
        description: 'Delay of timers. Hundreds of ms: one task blocks the thread for too long.',
        kind: 'timeseries',
        unit: 's',
        queries: [
          { expr: 'sluice_thread_event_loop_delay_p99_seconds', legend: '{{instance}} thread {{thread}} p99' },
          { expr: 'sluice_thread_event_loop_delay_max_seconds', legend: '{{instance}} thread {{thread}} worst' },
        ],
      },
      {
        title: 'Heap',
        description:
          'JavaScript heap of each thread. A thread that exceeds PIPELINE_THREAD_HEAP_MIB ends; the other threads keep running.',
        kind: 'timeseries',
        unit: 'bytes',
        queries: [{ expr: 'sluice_thread_heap_bytes', legend: '{{instance}} thread {{thread}}' }],
      },
      {
        title: 'Threads',
        description: 'Threads that are ready, threads that are configured, and threads of the pool.',
        kind: 'timeseries',
        unit: 'short',
        queries: [
          { expr: 'sum by (state) (sluice_threads)', legend: '{{state}}' },
          { expr: 'sum(sluice_pool_threads)', legend: 'in the pool' },
          { expr: 'sum(sluice_pool_queue_tasks)', legend: 'hosts that wait for a thread' },
        ],
      },
      {
        title: 'Deaths and restarts',
        description: 'Threads that died, hosts that ended, actors started again after a failure.',
        kind: 'timeseries',
        unit: 'short',
        queries: [
          { expr: 'sum(increase(sluice_thread_deaths_total[$__rate_interval]))', legend: 'threads died' },
          { expr: 'sum(increase(sluice_pool_completed_tasks_total[$__rate_interval]))', legend: 'hosts ended' },
          {
            expr: 'sum by (kind) (increase(sluice_actor_restarts_total[$__rate_interval]))',
            legend: '{{kind}} restarted',
          },
        ],
      },
      {
        title: 'Silence',
        description: 'Time since a thread last reported. Above a few seconds it hangs; at 8 s it is ended.',
        kind: 'timeseries',
        unit: 's',
        queries: [{ expr: 'sluice_thread_silence_seconds', legend: '{{instance}} thread {{thread}}' }],
      },
    ],
  },
  {
    title: 'Actors',
    panels: [
      {
        title: 'Actors by state',
        description: 'Quarantined actors failed repeatedly.',
        kind: 'timeseries',
        unit: 'short',
        queries: [{ expr: 'sum by (state) (sluice_actors)', legend: '{{state}}' }],
      },
      {
        title: 'Actors by kind and instance',
        description: 'Distribution of the running actors.',
        kind: 'timeseries',
        unit: 'short',
        queries: [
          { expr: 'sum by (instance, kind) (sluice_actors{state="running"})', legend: '{{instance}} {{kind}}' },
        ],
      },
      {
        title: 'Events resolved, by partition',
        description: 'If partitions are uneven, few visitors send most events.',
        kind: 'timeseries',
        unit: 'eps',
        queries: [
          {
            expr: 'sum by (partition) (rate(sluice_resolver_resolved_total[$__rate_interval]))',
            legend: '{{partition}}',
          },
        ],
      },
      {
        title: 'Events dropped by resolvers',
        description: 'Repeated events, bots, names that are not allowed, erased visitors.',
        kind: 'timeseries',
        unit: 'eps',
        queries: [
          { expr: 'sum(rate(sluice_resolver_duplicates_total[$__rate_interval]))', legend: 'duplicates' },
          { expr: 'sum(rate(sluice_resolver_bots_dropped_total[$__rate_interval]))', legend: 'bots' },
          { expr: 'sum(rate(sluice_resolver_not_allowed_dropped_total[$__rate_interval]))', legend: 'not allowed' },
          { expr: 'sum(rate(sluice_resolver_erased_dropped_total[$__rate_interval]))', legend: 'erased visitors' },
        ],
      },
      {
        title: 'Deduplication window',
        description: 'How far back a repeated event is recognised; below the setting, the number of ids bounds it.',
        kind: 'timeseries',
        unit: 's',
        queries: [{ expr: 'min(sluice_resolver_deduplication_window_seconds)', legend: 'shortest' }],
      },
      {
        title: 'Backlog by partition',
        description: 'Estimated number of events that are accepted and not resolved.',
        kind: 'timeseries',
        unit: 'short',
        queries: [{ expr: 'max by (partition) (sluice_partition_backlog_events)', legend: '{{partition}}' }],
      },
    ],
  },
  {
    title: 'Visitors',
    panels: [
      {
        title: 'Cache hits',
        description:
          'Fraction of visitors found in the cache of their thread, and the fraction of these for which the database was queried as well. The second is low unless a transaction stays open or connections break.',
        kind: 'timeseries',
        unit: 'percentunit',
        queries: [
          {
            expr: 'sum(rate(sluice_visitor_cache_lookups_total{result=~"hit|confirmed"}[$__rate_interval])) / sum(rate(sluice_visitor_cache_lookups_total[$__rate_interval]))',
            legend: 'hits',
          },
          {
            expr: 'sum(rate(sluice_visitor_cache_lookups_total{result="confirmed"}[$__rate_interval])) / sum(rate(sluice_visitor_cache_lookups_total[$__rate_interval]))',
            legend: 'of them confirmed',
          },
        ],
      },
      {
        title: 'Cache memory',
        description:
          'Bytes used, and the limit. If the cache is full and hits are few, raise PIPELINE_VISITOR_CACHE_BYTES_MAX.',
        kind: 'timeseries',
        unit: 'bytes',
        queries: [
          { expr: 'sum by (instance) (sluice_visitor_cache_bytes)', legend: '{{instance}}' },
          { expr: 'sum by (instance) (sluice_visitor_cache_limit_bytes)', legend: '{{instance}} limit' },
        ],
      },
      {
        title: 'Connections to PostgreSQL',
        description: 'Connections in use and waiting queries, against the limit.',
        kind: 'timeseries',
        unit: 'short',
        queries: [
          { expr: 'sum(sluice_database_connections{pool="threads",state="used"})', legend: 'used' },
          { expr: 'sum(sluice_database_waiting_queries{pool="threads"})', legend: 'waiting' },
          { expr: 'sum(sluice_database_connections_limit{pool="threads"})', legend: 'limit' },
        ],
      },
    ],
  },
]);
