import { dashboard } from './panel.ts';

/** The first dashboard to open: whether events are accepted and delivered, and how late. */
export const overview = dashboard('sluice-overview', 'Sluice / Overview', [
  {
    title: 'Now',
    panels: [
      {
        title: 'Events stored',
        description: 'Events answered 200: they are on disk in the log.',
        kind: 'stat',
        unit: 'eps',
        width: 4,
        queries: [
          { expr: 'sum(rate(sluice_gateway_events_total{result="stored"}[$__rate_interval]))', legend: 'stored' },
        ],
      },
      {
        title: 'Events refused by the log',
        description: 'Events answered 503. Above 0: clients have to send them again.',
        kind: 'stat',
        unit: 'eps',
        width: 4,
        thresholds: { warn: 0.001, bad: 1 },
        queries: [{ expr: 'sum(rate(sluice_gateway_events_total{result="lost"}[$__rate_interval]))', legend: 'lost' }],
      },
      {
        title: 'Requests failed',
        description: 'Fraction of the requests to the gateway answered 500 or above, over five minutes.',
        kind: 'stat',
        unit: 'percentunit',
        width: 4,
        thresholds: { warn: 0.001, bad: 0.0144 },
        queries: [{ expr: 'sluice:gateway_errors:ratio_rate5m', legend: 'failed' }],
      },
      {
        title: 'Events waiting',
        description:
          'Accepted events that wait to be resolved or for their first attempt, over all partitions and destinations.',
        kind: 'stat',
        unit: 'short',
        width: 4,
        queries: [{ expr: 'sluice:backlog_events:sum', legend: 'waiting' }],
      },
      {
        title: 'Log fill',
        description: 'The fullest stream. Full means that events are refused.',
        kind: 'stat',
        unit: 'percentunit',
        width: 4,
        thresholds: { warn: 0.7, bad: 0.8 },
        queries: [{ expr: 'max(sluice_log_bytes / sluice_log_limit_bytes)', legend: 'fullest' }],
      },
      {
        title: 'Revisions apart',
        description: 'How far the oldest configuration in force is behind the newest. 0 within seconds of a publish.',
        kind: 'stat',
        unit: 'short',
        width: 4,
        thresholds: { warn: 1, bad: 2 },
        queries: [{ expr: 'max(sluice_config_revision) - min(sluice_config_revision)', legend: 'behind' }],
      },
    ],
  },
  {
    title: 'Flow',
    panels: [
      {
        title: 'Events by result',
        description: 'Outcomes of the events that the gateway received.',
        kind: 'timeseries',
        unit: 'eps',
        queries: [
          { expr: 'sum by (result) (rate(sluice_gateway_events_total[$__rate_interval]))', legend: '{{result}}' },
        ],
      },
      {
        title: 'Events through the pipeline',
        description: 'Read from the log, resolved, delivered. Delivered counts once for each destination.',
        kind: 'timeseries',
        unit: 'eps',
        queries: [
          { expr: 'sum(rate(sluice_resolver_events_total[$__rate_interval]))', legend: 'read' },
          { expr: 'sum(rate(sluice_resolver_resolved_total[$__rate_interval]))', legend: 'resolved' },
          { expr: 'sum(rate(sluice_dispatcher_delivered_total[$__rate_interval]))', legend: 'delivered' },
        ],
      },
      {
        title: 'Age of events when delivered',
        description: 'From the moment the gateway accepted an event to the answer of its destination.',
        kind: 'timeseries',
        unit: 's',
        queries: [0.5, 0.99].map((quantile) => ({
          expr: `histogram_quantile(${quantile}, sum by (le) (rate(sluice_event_age_seconds_bucket[$__rate_interval])))`,
          legend: `p${quantile * 100}`,
        })),
      },
      {
        title: 'Oldest waiting, by partition',
        description: 'Age of the oldest accepted event that is not resolved. Seconds are fine, minutes are not.',
        kind: 'timeseries',
        unit: 's',
        queries: [
          { expr: 'max by (partition) (sluice_partition_backlog_age_seconds)', legend: 'partition {{partition}}' },
        ],
      },
      {
        title: 'Oldest waiting, by destination',
        description: 'The ten destinations with the longest wait.',
        kind: 'timeseries',
        unit: 's',
        queries: [
          {
            expr: 'topk(10, max by (destination_id) (sluice_destination_backlog_age_seconds))',
            legend: '{{destination_id}}',
          },
        ],
      },
      {
        title: 'Log bytes against their limit',
        description: 'Each stream of the log. Undelivered messages are never removed for space.',
        kind: 'timeseries',
        unit: 'percentunit',
        queries: [
          {
            expr: 'max by (stream) (sluice_log_bytes) / max by (stream) (sluice_log_limit_bytes)',
            legend: '{{stream}}',
          },
        ],
      },
    ],
  },
  {
    title: 'Services',
    panels: [
      {
        title: 'What runs',
        description: 'Each process with its version, and which failures the log survives.',
        kind: 'table',
        unit: 'none',
        width: 12,
        queries: [
          { expr: 'sluice_build_info', legend: '' },
          { expr: 'sluice_log_durability_info == 1', legend: '' },
        ],
      },
      {
        title: 'Readiness',
        description: 'Conditions of readiness by process. 0: the condition is not met.',
        kind: 'timeseries',
        unit: 'short',
        width: 12,
        queries: [
          { expr: 'min by (job, instance, check) (sluice_ready_check)', legend: '{{job}} {{instance}} {{check}}' },
        ],
      },
      {
        title: 'Configuration requests by status',
        description: 'Requests to the control plane.',
        kind: 'timeseries',
        unit: 'reqps',
        queries: [
          { expr: 'sum by (code) (rate(sluice_control_plane_requests_total[$__rate_interval]))', legend: '{{code}}' },
        ],
      },
      {
        title: 'Configuration requests, time',
        description: 'How long the control plane takes to answer.',
        kind: 'timeseries',
        unit: 's',
        queries: [0.5, 0.99].map((quantile) => ({
          expr: `histogram_quantile(${quantile}, sum by (le) (rate(sluice_control_plane_request_duration_seconds_bucket[$__rate_interval])))`,
          legend: `p${quantile * 100}`,
        })),
      },
      {
        title: 'Connections to PostgreSQL',
        description:
          'Used connections of each pool, and work that waits for a connection. If work keeps waiting, the pool is too small.',
        kind: 'timeseries',
        unit: 'short',
        queries: [
          { expr: 'sum by (job, pool) (sluice_database_connections{state="used"})', legend: '{{job}} {{pool}} used' },
          { expr: 'sum by (job, pool) (sluice_database_waiting_queries)', legend: '{{job}} {{pool}} waiting' },
        ],
      },
    ],
  },
]);
