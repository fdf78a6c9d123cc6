import type { LaneClass } from '../sources/dispatch-item.ts';

/** The events that are ready, and the purpose of the next request. */
export type LaneChoice = {
  readonly isFreshReady: boolean;
  readonly isRetriedReady: boolean;
  /** Requests in flight with retried events, as a fraction of all requests that may be in flight. */
  readonly retriedInFlight: number;
  /** Number of requests with fresh events that were started after the last request with retried events. */
  readonly freshSinceRetried: number;
  /**
   * The purpose of the request: an ordinary request, a probe, or a probe that may for a short time use only a fresh
   * event.
   */
  readonly asking: 'as ever' | 'a probe' | 'a fresh probe';
};

/** Retried events may use this fraction of the requests while fresh ones wait, so that neither starves the other. */
const retriedShare = 0.25;
/**
 * Minimum number of fresh requests between two retried ones: with few requests in flight, the fraction alone would
 * allow either no retried request or no fresh one.
 */
const freshBetween = 1 / retriedShare - 1;

/**
 * Decides whether fresh or retried events are sent next. A probe uses a fresh event if there is one: an event that
 * failed before may itself be at fault, and would keep the breaker open although the destination accepts all other
 * events.
 */
export function nextLane({ isFreshReady, isRetriedReady, asking, ...retried }: LaneChoice): LaneClass | undefined {
  if (!isRetriedReady) return isFreshReady ? 'fresh' : undefined;
  if (!isFreshReady) return asking === 'a fresh probe' ? undefined : 'retried';
  const isTheirTurn = retried.retriedInFlight < retriedShare && retried.freshSinceRetried >= freshBetween;
  return asking === 'as ever' && isTheirTurn ? 'retried' : 'fresh';
}
