import type { LaneClass } from '../sources/dispatch-item.ts';

/** What is ready to be sent, and what the destination is asked for. */
export type LaneChoice = {
  readonly isFreshReady: boolean;
  readonly isRetriedReady: boolean;
  /** Requests with retried events in flight, as a share of all there may be. */
  readonly retriedInFlight: number;
  /** Requests with fresh events that were started after the last one with retried events. */
  readonly freshSinceRetried: number;
  /** Why it is asked: as ever, or to find out whether it is back; then for a moment with fresh events only. */
  readonly asking: 'as ever' | 'a probe' | 'a fresh probe';
};

/** Retried events may use this share of the requests while fresh ones wait, so that neither starves the other. */
const retriedShare = 0.25;
/** Where few requests may be in flight a share of those is none or all: then they take turns. */
const freshBetween = 1 / retriedShare - 1;

/**
 * Which events go next. A probe is made with a fresh event where there is one: one that has failed before may fail for
 * what it is, and would keep a destination shut that takes all others.
 */
export function nextLane({ isFreshReady, isRetriedReady, asking, ...retried }: LaneChoice): LaneClass | undefined {
  if (!isRetriedReady) return isFreshReady ? 'fresh' : undefined;
  if (!isFreshReady) return asking === 'a fresh probe' ? undefined : 'retried';
  const isTheirTurn = retried.retriedInFlight < retriedShare && retried.freshSinceRetried >= freshBetween;
  return asking === 'as ever' && isTheirTurn ? 'retried' : 'fresh';
}
