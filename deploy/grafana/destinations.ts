import { dashboard } from './panel.ts';

const of = '{destination_id=~"$destination"}';

/** Destinations: which of them fail, lag or are overloaded. */
export const destinations = dashboard(
  'sluice-destinations',
  'Sluice / Destinations',
  [
    {
      title: 'Worst',
      panels: [
        {
          title: 'Failing most',
          description: 'Fraction of attempts that failed over ten minutes: the ten worst destinations.',
          kind: 'bargauge',
          unit: 'percentunit',
          thresholds: { warn: 0.05, bad: 0.5 },
          queries: [
            { expr: 'topk(10, destination_id:sluice_attempts_failed:ratio_rate10m)', legend: '{{destination_id}}' },
          ],
        },
        {
          title: 'Longest waits',
          description: 'Age of the oldest event that waits for its first attempt: the ten worst destinations.',
          kind: 'bargauge',
          unit: 's',
          thresholds: { warn: 60, bad: 900 },
          queries: [
            {
              expr: 'topk(10, max by (destination_id) (sluice_destination_backlog_age_seconds))',
              legend: '{{destination_id}}',
            },
          ],
        },
        {
          title: 'Destinations not sent to',
          description:
            'Destinations whose breaker is open or half open, that refuse their key, or whose settings cannot be used.',
          kind: 'stat',
          unit: 'short',
          thresholds: { warn: 1, bad: 5 },
          queries: [
            { expr: 'sum(sluice_dispatcher_breaker_open)', legend: 'breaker open' },
            { expr: 'sum(sluice_dispatcher_breaker_probing)', legend: 'being tried out' },
            { expr: 'sum(sluice_dispatcher_access_refused)', legend: 'key refused' },
            { expr: 'sum(sluice_dispatcher_misconfigured)', legend: 'misconfigured' },
          ],
        },
      ],
    },
    {
      title: 'Delivery',
      panels: [
        {
          title: 'Attempts by outcome',
          description: 'Outcomes of attempts to deliver an event.',
          kind: 'timeseries',
          unit: 'eps',
          queries: [
            {
              expr: `sum by (outcome) (rate(sluice_dispatcher_attempts_total${of}[$__rate_interval]))`,
              legend: '{{outcome}}',
            },
          ],
        },
        {
          title: 'Delivered',
          description: 'Events delivered, by destination.',
          kind: 'timeseries',
          unit: 'eps',
          queries: [
            {
              expr: `topk(10, sum by (destination_id) (rate(sluice_dispatcher_delivered_total${of}[$__rate_interval])))`,
              legend: '{{destination_id}}',
            },
          ],
        },
        {
          title: 'Time to answer, p99 by type',
          description: 'How long destinations take for a batch.',
          kind: 'timeseries',
          unit: 's',
          queries: [
            {
              expr: 'histogram_quantile(0.99, sum by (le, destination_type) (rate(sluice_dispatch_duration_seconds_bucket[$__rate_interval])))',
              legend: '{{destination_type}}',
            },
          ],
        },
        {
          title: 'Age when delivered, p99 by type',
          description: 'From accepted to delivered, retries included.',
          kind: 'timeseries',
          unit: 's',
          queries: [
            {
              expr: 'histogram_quantile(0.99, sum by (le, destination_type) (rate(sluice_event_age_seconds_bucket[$__rate_interval])))',
              legend: '{{destination_type}}',
            },
          ],
        },
        {
          title: 'Events in a request',
          description: 'Average number of events in a request.',
          kind: 'timeseries',
          unit: 'short',
          queries: [
            {
              expr: `sum(rate(sluice_dispatcher_attempts_total${of}[$__rate_interval])) / sum(rate(sluice_dispatcher_requests_total${of}[$__rate_interval]))`,
              legend: 'events',
            },
          ],
        },
        {
          title: 'Left out',
          description: 'Events that a rule stopped, or that are not meant for the destination.',
          kind: 'timeseries',
          unit: 'eps',
          queries: [
            { expr: `sum(rate(sluice_dispatcher_stopped_total${of}[$__rate_interval]))`, legend: 'stopped' },
            { expr: `sum(rate(sluice_dispatcher_global_stopped_total${of}[$__rate_interval]))`, legend: 'global stop' },
            { expr: `sum(rate(sluice_dispatcher_skipped_total${of}[$__rate_interval]))`, legend: 'skipped' },
          ],
        },
      ],
    },
    {
      title: 'Waiting',
      panels: [
        {
          title: 'Backlog',
          description: 'Estimated number of events that wait for their first attempt.',
          kind: 'timeseries',
          unit: 'short',
          queries: [
            {
              expr: `topk(10, max by (destination_id) (sluice_destination_backlog_events${of}))`,
              legend: '{{destination_id}}',
            },
          ],
        },
        {
          title: 'Retries waiting',
          description: 'Frames in the retry log. A frame has one or more events.',
          kind: 'timeseries',
          unit: 'short',
          queries: [
            {
              expr: `topk(10, max by (destination_id) (sluice_destination_retries_waiting_frames${of}))`,
              legend: '{{destination_id}}',
            },
          ],
        },
        {
          title: 'Waiting to keep the order',
          description:
            'Visitors with an event that waits for a retry, later events that wait for it, and destinations that accept no new events because too many wait.',
          kind: 'timeseries',
          unit: 'short',
          queries: [
            { expr: `sum(sluice_dispatcher_visitors_waiting${of})`, legend: 'visitors' },
            { expr: `sum(sluice_dispatcher_events_parked${of})`, legend: 'events parked' },
            { expr: `sum(sluice_dispatcher_order_paused${of})`, legend: 'destinations paused' },
          ],
        },
        {
          title: 'Dead letters',
          description: 'New dead letters by reason, and the number kept.',
          kind: 'timeseries',
          unit: 'short',
          queries: [
            {
              expr: `sum by (reason) (increase(sluice_dispatcher_dead_letters_total${of}[$__rate_interval]))`,
              legend: 'new: {{reason}}',
            },
            { expr: 'sum(sluice_dead_letters_kept_messages)', legend: 'kept' },
          ],
        },
        {
          title: 'Events held in memory',
          description: 'Events that a dispatcher has received and not settled.',
          kind: 'timeseries',
          unit: 'short',
          queries: [
            {
              expr: `topk(10, sum by (destination_id) (sluice_dispatcher_events_held${of}))`,
              legend: '{{destination_id}}',
            },
          ],
        },
        {
          title: 'Requests in flight',
          description: 'Requests in flight, and their limit, which adapts to the destination.',
          kind: 'timeseries',
          unit: 'short',
          queries: [
            { expr: `sum(sluice_dispatcher_requests_in_flight${of})`, legend: 'in flight' },
            { expr: `sum(sluice_dispatcher_concurrency${of})`, legend: 'allowed' },
          ],
        },
        {
          title: 'Unacknowledged frames against their limit',
          description: 'At 1 the destination gets no more frames until some are acknowledged.',
          kind: 'timeseries',
          unit: 'percentunit',
          queries: [
            {
              expr: `topk(10, max by (destination_id) (sluice_destination_unacknowledged_frames${of} / sluice_destination_unacknowledged_limit_frames${of}))`,
              legend: '{{destination_id}}',
            },
          ],
        },
      ],
    },
  ],
  [
    {
      name: 'destination',
      label: 'Destination',
      query: 'label_values(sluice_destination_info, destination_id)',
    },
  ],
);
