import { dashboard } from './panel.ts';

/** The gateway: requests in, frames out. */
export const gateway = dashboard('sluice-gateway', 'Sluice / Gateway', [
  {
    title: 'Requests',
    panels: [
      {
        title: 'Requests by route',
        description: 'Requests to the gateways.',
        kind: 'timeseries',
        unit: 'reqps',
        queries: [
          { expr: 'sum by (route) (rate(sluice_gateway_requests_total[$__rate_interval]))', legend: '{{route}}' },
        ],
      },
      {
        title: 'Answers other than 200, by status',
        description: '429 and 503 ask the client to retry; 499 is a client that disconnected.',
        kind: 'timeseries',
        unit: 'reqps',
        queries: [
          {
            expr: 'sum by (code) (rate(sluice_gateway_requests_total{code!~"20."}[$__rate_interval]))',
            legend: '{{code}}',
          },
        ],
      },
      {
        title: 'Time to answer, p99 by route',
        description: 'Includes the wait for the log: an event is answered when it is on disk.',
        kind: 'timeseries',
        unit: 's',
        queries: [
          {
            expr: 'histogram_quantile(0.99, sum by (le, route) (rate(sluice_gateway_request_duration_seconds_bucket{route=~"track|identify|batch"}[$__rate_interval])))',
            legend: '{{route}}',
          },
        ],
      },
      {
        title: 'Events by type of source',
        description: 'Stored events.',
        kind: 'timeseries',
        unit: 'eps',
        queries: [
          {
            expr: 'topk(10, sum by (source_type) (rate(sluice_gateway_events_total{result="stored"}[$__rate_interval])))',
            legend: '{{source_type}}',
          },
        ],
      },
      {
        title: 'Events not stored',
        description: 'Invalid events, events over the limit of their source, and events that the log did not accept.',
        kind: 'timeseries',
        unit: 'eps',
        queries: [
          {
            expr: 'sum by (result) (rate(sluice_gateway_events_total{result!="stored"}[$__rate_interval]))',
            legend: '{{result}}',
          },
        ],
      },
      {
        title: 'Open requests',
        description: 'Requests that wait for their answer, by process.',
        kind: 'timeseries',
        unit: 'short',
        queries: [{ expr: 'sluice_gateway_requests_open', legend: '{{instance}}' }],
      },
    ],
  },
  {
    title: 'Frames',
    panels: [
      {
        title: 'Frames by reason for closing',
        description: 'round: no frame was in flight; linger: the waiting time was over; size: the frame was full.',
        kind: 'timeseries',
        unit: 'short',
        queries: [
          { expr: 'sum by (closed_by) (rate(sluice_gateway_frames_total[$__rate_interval]))', legend: '{{closed_by}}' },
        ],
      },
      {
        title: 'Events in a frame',
        description: 'Grows with the load: one acknowledgement then serves more requests.',
        kind: 'timeseries',
        unit: 'short',
        queries: [
          {
            expr: 'sum(rate(sluice_gateway_frame_events_total[$__rate_interval])) / sum(rate(sluice_gateway_frames_total[$__rate_interval]))',
            legend: 'events',
          },
        ],
      },
      {
        title: 'Bytes to the log',
        description: 'Bytes of frames sent.',
        kind: 'timeseries',
        unit: 'Bps',
        queries: [{ expr: 'sum(rate(sluice_gateway_frame_bytes_total[$__rate_interval]))', legend: 'bytes' }],
      },
      {
        title: 'Time until the log acknowledged',
        description: 'Mostly the disk sync of nats-server.',
        kind: 'timeseries',
        unit: 's',
        queries: [0.5, 0.99].map((quantile) => ({
          expr: `histogram_quantile(${quantile}, sum by (le) (rate(sluice_gateway_publish_duration_seconds_bucket[$__rate_interval])))`,
          legend: `p${quantile * 100}`,
        })),
      },
      {
        title: 'Frames in flight and their limit',
        description: 'Always at the limit: the log is the bottleneck of the gateway.',
        kind: 'timeseries',
        unit: 'short',
        queries: [
          { expr: 'sluice_gateway_frames_in_flight', legend: '{{instance}}' },
          { expr: 'max(sluice_gateway_frames_in_flight_limit)', legend: 'limit' },
        ],
      },
      {
        title: 'Frames that the log did not accept',
        description: 'By reason. Above 0: requests were answered 503.',
        kind: 'timeseries',
        unit: 'short',
        queries: [
          {
            expr: 'sum by (reason) (rate(sluice_gateway_frame_failures_total[$__rate_interval]))',
            legend: '{{reason}}',
          },
        ],
      },
    ],
  },
  {
    title: 'Saturation',
    panels: [
      {
        title: 'Queue for the log',
        description: 'Used fraction of the limits of events and bytes. At 1 events are refused; one account: at half.',
        kind: 'timeseries',
        unit: 'percentunit',
        queries: [
          { expr: 'sluice_gateway_queue_events / sluice_gateway_queue_limit_events', legend: '{{instance}} events' },
          { expr: 'sluice_gateway_queue_bytes / sluice_gateway_queue_limit_bytes', legend: '{{instance}} bytes' },
          { expr: 'sluice_gateway_body_bytes / sluice_gateway_body_limit_bytes', legend: '{{instance}} bodies' },
        ],
      },
      {
        title: 'Event loop',
        description:
          'Fraction of time that the event loop is busy. Near 1 the process is at its limit: start another one.',
        kind: 'timeseries',
        unit: 'percentunit',
        queries: [
          {
            expr: 'rate(sluice_event_loop_busy_seconds_total[$__rate_interval]) * on (job, instance) group_left () sluice_build_info{component="gateway"}',
            legend: '{{instance}}',
          },
        ],
      },
      {
        title: 'Memory',
        description: 'Resident memory of the gateways.',
        kind: 'timeseries',
        unit: 'bytes',
        queries: [
          {
            expr: 'process_resident_memory_bytes * on (job, instance) group_left () sluice_build_info{component="gateway"}',
            legend: '{{instance}}',
          },
        ],
      },
    ],
  },
  {
    title: 'Limits',
    panels: [
      {
        title: 'Connections',
        description:
          'Open connections of clients, including idle ones, by process. Connections over GATEWAY_CONNECTIONS_MAX are refused.',
        kind: 'timeseries',
        unit: 'short',
        queries: [
          { expr: 'sluice_gateway_connections', legend: '{{instance}}' },
          {
            expr: 'sum(increase(sluice_gateway_refused_connections_total[$__rate_interval]))',
            legend: 'refused',
          },
        ],
      },
      {
        title: 'Incoming bodies, and their limit',
        description: 'At the limit further bodies are refused with a 503.',
        kind: 'timeseries',
        unit: 'bytes',
        queries: [
          { expr: 'max(sluice_gateway_body_bytes)', legend: 'arriving' },
          { expr: 'min(sluice_gateway_body_limit_bytes)', legend: 'limit' },
        ],
      },
      {
        title: 'Refused before the source key was read',
        description:
          'Requests by the exceeded limit of one address or of all: requests in flight, bodies, decompression.',
        kind: 'timeseries',
        unit: 'reqps',
        queries: [
          {
            expr: 'sum by (share) (rate(sluice_gateway_refused_requests_total[$__rate_interval]))',
            legend: '{{share}}',
          },
        ],
      },
      {
        title: 'Events over the limit of their source',
        description: 'Answered 429: more events or bytes per second than one source key may send.',
        kind: 'timeseries',
        unit: 'eps',
        queries: [
          {
            expr: 'sum by (source_type) (rate(sluice_gateway_events_total{result="limited"}[$__rate_interval]))',
            legend: '{{source_type}}',
          },
        ],
      },
      {
        title: 'Events held back',
        description:
          'Answered 429 because events of their account take more of INGEST than LOG_ACCOUNT_SHARE_PERCENT, or wait longer than BACKPRESSURE_AGE_MAX_MS.',
        kind: 'timeseries',
        unit: 'eps',
        queries: [
          {
            expr: 'sum by (source_type) (rate(sluice_gateway_events_total{result="backpressure"}[$__rate_interval]))',
            legend: '{{source_type}}',
          },
        ],
      },
      {
        title: 'Accounts held back',
        description: 'Accounts whose sources are answered 429 for that reason, by gateway.',
        kind: 'timeseries',
        unit: 'short',
        queries: [{ expr: 'max by (instance) (sluice_gateway_backpressure_accounts)', legend: '{{instance}}' }],
      },
    ],
  },
]);
