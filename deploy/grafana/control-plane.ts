import { dashboard } from './panel.ts';

/** The control plane: who asks it, what it refuses, and whether versions get out. */
export const controlPlane = dashboard('sluice-control-plane', 'Sluice / Control plane', [
  {
    title: 'Requests',
    panels: [
      {
        title: 'Requests by status',
        description: '429 is more than an account or an address may have; 503 a database or log that does not answer.',
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
        description: 'Used ones. A pool that is used up keeps its own requests waiting, and no others.',
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
        title: 'Requests that wait for others of their own',
        description: 'Of their account, or of their address before their key is looked up.',
        kind: 'timeseries',
        unit: 'short',
        queries: [{ expr: 'sum by (share) (sluice_control_plane_waiting_requests)', legend: '{{share}}' }],
      },
      {
        title: 'Refused because too many were under way',
        description: 'By the limit that was reached; and connections refused.',
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
        description: 'All of them were refused.',
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
        description: 'Look-ups, first assignments, impressions and work of a second; page is the work of one page.',
        kind: 'timeseries',
        unit: 'reqps',
        queries: [
          { expr: 'sum by (cost) (rate(sluice_experiment_refused_total[$__rate_interval]))', legend: '{{cost}}' },
        ],
      },
      {
        title: 'Assignments answered and not stored',
        description: 'Of accounts that have as many as they may.',
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
        description: 'Rows of the outbox as the leader sees them, and attempts that failed.',
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
