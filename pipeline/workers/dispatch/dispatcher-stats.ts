import { deadLetterReasons } from './settlement/retry-policy.ts';
import type { DeadLetterReason } from './settlement/retry-policy.ts';
import { attemptOutcomes } from './sending/attempt-outcome.ts';
import type { AttemptOutcome } from './sending/attempt-outcome.ts';

/** Everything that a dispatcher counts, by its name in `stats()`. */
export const dispatcherCounters = {
  frames: 'Frames of resolved events received',
  redelivered_frames: 'Frames received that had been delivered before',
  lost_frames: 'Times a frame was missing although the log had acknowledged it to the resolver',
  frame_events: 'Events in the frames received',
  repeated_events:
    'Events of frames that an earlier dispatcher had received and not recorded as settled: at most this many were sent twice',
  events: 'Events read from frames, retries included',
  heads_parsed: 'Events whose head could not be read alone, so that their whole line was parsed',
  requests: 'Requests sent to the destination',
  delivered: 'Events delivered',
  failed_attempts: 'Failed attempts to deliver an event',
  retries: 'Events put into the retry log',
  held: 'Events put back, their attempt not counted, because the destination refused its key or token',
  stopped: 'Events a mapping rule stopped',
  global_stopped: 'Events an account-wide rule stopped',
  erased: 'Events that are not sent because their visitor was erased after they were received',
  consent_stopped: 'Events stopped because their visitor does not allow a purpose that the destination serves',
  limited_use: "Events delivered with the platform's limited-use fields, because their visitor opted out by a signal",
  consent_unreadable: 'Consent strings and consents of visitors with parts that cannot be read and count as no consent',
  skipped: 'Events that are not for the destination',
  breaker_opened: 'Times the breaker opened',
  missed_events:
    'Events that were skipped: they had waited for too long or taken too much room, or neither the retry log nor the dead letters had room for them. For a long backlog an estimate',
  positions_lost: 'Times when the position of the destination was missing, so that delivery could not continue there',
  parked: 'Events put into the retry log to wait for an earlier event of their visitor',
  parked_lost: 'Parked events that were gone from the retry log when their turn came',
  retries_lost:
    'Events lost from the retry log while later events of their visitor waited for them; the later events are sent',
  already_waiting: 'Events that arrived a second time while they waited',
  order_pauses: 'Times when no new events were accepted because too many visitors or events waited',
  retry_share_pauses: 'Times fresh events were paused because the quota of the retry log was used up',
  log_retries: 'Times a write to the retry or dead-letter log was retried',
} as const;

/** Current values of a dispatcher, by their names in `stats()`. */
export const dispatcherGauges = {
  undelivered_age_seconds:
    'Time since the gateway accepted the oldest new event that is in flight and not settled; 0 if there is none. Retries do not count',
  events_held: 'Events in memory, waiting or in flight',
  requests_in_flight: 'Requests in flight',
  concurrency: 'Requests that may be in flight, as the destination has shown it can take',
  breaker_open: '1 while the breaker stops requests to the destination or probes it, else 0',
  access_refused: '1 while the destination is held because it refuses its key or token, else 0',
  breaker_probing: '1 while the breaker probes the destination, one request at a time, else 0',
  visitors_waiting: 'Visitors whose events wait for the retry of an earlier one',
  events_parked: 'Events that wait for an earlier event of their visitor',
  order_paused: '1 while no new events are accepted because too many visitors or events wait, else 0',
  health_behind: '1 while the log does not store the health counts, and the dispatcher continues without, else 0',
  retry_share_full: '1 while fresh events are paused because the quota of the retry log is used up, else 0',
  retry_bytes: 'Bytes of the retry log that its events take',
  erasures_unknown:
    '1 while nothing is sent because erasures and withdrawals of consent of the last second are not known, else 0',
  misconfigured: '1 while nothing can be sent to the destination because of its settings, else 0',
} as const;

export type DispatcherCounter =
  | keyof typeof dispatcherCounters
  | 'dead_letters'
  | `attempts_${AttemptOutcome}`
  | `dead_letters_${DeadLetterReason}`;
export type DispatcherGauge = keyof typeof dispatcherGauges;

/** Counters of one dispatcher since it started, and its last gauges. */
export type DispatcherCounts = Record<DispatcherCounter | DispatcherGauge, number>;

export function createDispatcherCounts(): DispatcherCounts {
  const names = [
    ...Object.keys(dispatcherCounters),
    'dead_letters',
    ...attemptOutcomes.map((outcome) => `attempts_${outcome}`),
    ...deadLetterReasons.map((reason) => `dead_letters_${reason}`),
    ...Object.keys(dispatcherGauges),
  ];
  return Object.fromEntries(names.map((name) => [name, 0])) as DispatcherCounts;
}
