import { dashboard } from './panel.ts';

/** The control plane: its requests, its refusals, and the publishing of versions. */
export const controlPlane = dashboard('sluice-control-plane', 'Sluice / Control plane', [
  {
    title: 'Requests',
    panels: [
      {
        title: 'Requests by status',
        description: '429: an account or an address is over its limit. 503: the database or the log does not answer.',
        kind: 'timeseries',
        unit: 'reqps',
        queries: [
          { expr: 'sum by (code) (rate(sluice_control_plane_requests_total[$__rate_interval]))', legend: '{{code}}' },
        ],
      },
      {
        title: 'Time to answer, p99, the ten slowest routes',
        description: 'From the first byte of a request to the last of its answer.',
        kind: 'timeseries',
        unit: 's',
        queries: [
          {
            expr: 'topk(10, histogram_quantile(0.99, sum by (le, route) (rate(sluice_control_plane_request_duration_seconds_bucket[$__rate_interval]))))',
            legend: '{{route}}',
          },
        ],
      },
      {
        title: 'Connections to PostgreSQL, by pool',
        description: 'Connections in use. A pool without a free connection delays only its own requests.',
        kind: 'timeseries',
        unit: 'short',
        queries: [{ expr: 'sum by (pool) (sluice_database_connections{state="used"})', legend: '{{pool}}' }],
      },
    ],
  },
  {
    title: 'Shares',
    panels: [
      {
        title: 'Requests waiting for others of the same account or address',
        description: 'By account, or by address before the key is looked up.',
        kind: 'timeseries',
        unit: 'short',
        queries: [{ expr: 'sum by (share) (sluice_control_plane_waiting_requests)', legend: '{{share}}' }],
      },
      {
        title: 'Refused because too many were in flight',
        description: 'Requests by the limit that was reached, and refused connections.',
        kind: 'timeseries',
        unit: 'reqps',
        queries: [
          {
            expr: 'sum by (share) (rate(sluice_control_plane_refused_requests_total[$__rate_interval]))',
            legend: '{{share}}',
          },
          {
            expr: 'sum(rate(sluice_control_plane_refused_connections_total[$__rate_interval]))',
            legend: 'connections',
          },
        ],
      },
      {
        title: 'API keys refused, by reason',
        description: 'Requests whose key was not valid.',
        kind: 'timeseries',
        unit: 'reqps',
        queries: [
          {
            expr: 'sum by (reason) (rate(sluice_control_plane_refused_keys_total[$__rate_interval]))',
            legend: '{{reason}}',
          },
        ],
      },
    ],
  },
  {
    title: 'Experiments',
    panels: [
      {
        title: 'Refused, by the exhausted limit',
        description:
          'Limits per second: lookups, first assignments, impressions and work. page: the limit of work for one page.',
        kind: 'timeseries',
        unit: 'reqps',
        queries: [
          { expr: 'sum by (cost) (rate(sluice_experiment_refused_total[$__rate_interval]))', legend: '{{cost}}' },
        ],
      },
      {
        title: 'Assignments answered but not stored',
        description: 'For accounts at their limit of stored assignments.',
        kind: 'timeseries',
        unit: 'short',
        queries: [
          {
            expr: 'sum(increase(sluice_experiment_unstored_assignments_total[$__rate_interval]))',
            legend: 'not stored',
          },
        ],
      },
    ],
  },
  {
    title: 'Publishing',
    panels: [
      {
        title: 'Versions on their way to the log',
        description: 'Rows of the outbox at the leader, and failed attempts to publish.',
        kind: 'timeseries',
        unit: 'short',
        queries: [
          { expr: 'max(sluice_outbox_pending_rows)', legend: 'waiting' },
          { expr: 'sum(increase(sluice_config_push_failures_total[$__rate_interval]))', legend: 'failed' },
        ],
      },
    ],
  },
]);
