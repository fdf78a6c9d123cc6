import type { DispatcherWork } from './assemble-work.ts';
import type { DispatcherParts } from './dispatcher-parts.ts';
import type { DispatcherGauge } from './dispatcher-stats.ts';

/** The current values of a dispatcher's gauges. */
export function readGauges(
  { inbox, sending, visitorOrder, health, retryQuota }: DispatcherParts,
  { flow, admission }: DispatcherWork,
): Record<DispatcherGauge, number> {
  const { gate } = sending;
  return {
    undelivered_age_seconds: inbox.ageMs(Date.now()) / 1_000,
    events_held: sending.size,
    requests_in_flight: gate.inFlight,
    concurrency: gate.concurrency,
    breaker_open: gate.isBreakerClosed ? 0 : 1,
    access_refused: gate.isAccessRefused ? 1 : 0,
    breaker_probing: gate.isProbing ? 1 : 0,
    visitors_waiting: visitorOrder?.visitorsWaiting ?? 0,
    events_parked: visitorOrder?.eventsParked ?? 0,
    order_paused: visitorOrder?.isPaused === true ? 1 : 0,
    erasures_unknown: admission.isCurrent ? 0 : 1,
    misconfigured: flow.hasProblem ? 1 : 0,
    retry_share_full: retryQuota.isPaused ? 1 : 0,
    retry_bytes: retryQuota.bytes,
    health_behind: health.isBehind ? 1 : 0,
  };
}
