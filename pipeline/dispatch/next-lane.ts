import type { LaneClass } from './visitor-lanes.ts';

/** What is ready to be sent, and what the destination is asked for. */
export type LaneChoice = {
  readonly isFreshReady: boolean;
  readonly isRetriedReady: boolean;
  /** Requests with retried events in flight, as a share of all there may be. */
  readonly retriedInFlight: number;
  /** Why it is asked: as ever, or to find out whether it is back; then for a moment with fresh events only. */
  readonly asking: 'as ever' | 'a probe' | 'a fresh probe';
};

/** Retried events may use this share of the requests while fresh ones wait, so that neither starves the other. */
const retriedShare = 0.25;

/**
 * Which events go next. A probe is made with a fresh event where there is one: one that has failed before may fail for
 * what it is, and would keep a destination shut that takes all others.
 */
export function nextLane({ isFreshReady, isRetriedReady, retriedInFlight, asking }: LaneChoice): LaneClass | undefined {
  if (!isRetriedReady) return isFreshReady ? 'fresh' : undefined;
  if (isFreshReady) return asking === 'as ever' && retriedInFlight < retriedShare ? 'retried' : 'fresh';
  return asking === 'a fresh probe' ? undefined : 'retried';
}
