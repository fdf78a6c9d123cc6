import type { LaneClass } from '../sources/dispatch-item.ts';

/** The events that are ready, and the purpose of the next request. */
export type LaneChoice = {
  readonly isFreshReady: boolean;
  readonly isRetriedReady: boolean;
  /** Requests with retried events in flight, as a fraction of all that may be in flight. */
  readonly retriedInFlight: number;
  /** Requests with fresh events that were started after the last one with retried events. */
  readonly freshSinceRetried: number;
  /** The purpose of the request: ordinary, a probe, or a probe that for a moment may use only a fresh event. */
  readonly asking: 'as ever' | 'a probe' | 'a fresh probe';
};

/** Retried events may use this fraction of the requests while fresh ones wait, so that neither starves the other. */
const retriedShare = 0.25;
/** Fresh requests between two retried ones: with few requests in flight, the fraction alone would allow none or all. */
const freshBetween = 1 / retriedShare - 1;

/**
 * Which events go next. A probe uses a fresh event if there is one: an event that failed before may be at fault
 * itself, and would keep a destination shut that accepts all others.
 */
export function nextLane({ isFreshReady, isRetriedReady, asking, ...retried }: LaneChoice): LaneClass | undefined {
  if (!isRetriedReady) return isFreshReady ? 'fresh' : undefined;
  if (!isFreshReady) return asking === 'a fresh probe' ? undefined : 'retried';
  const isTheirTurn = retried.retriedInFlight < retriedShare && retried.freshSinceRetried >= freshBetween;
  return asking === 'as ever' && isTheirTurn ? 'retried' : 'fresh';
}
