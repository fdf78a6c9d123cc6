/**
 * Whether requests are made to a destination. Closed: requests are made. Open: no request is made before `untilMs`.
 * Half-open: one request at a time probes the destination.
 */
export type BreakerState =
  /** `sinceMs`: time of the first of the consecutive failures; a request that hung counts from its start. */
  | { readonly kind: 'closed'; readonly failuresInARow: number; readonly sinceMs: number }
  | { readonly kind: 'open'; readonly untilMs: number; readonly timesOpened: number }
  | { readonly kind: 'half-open'; readonly timesOpened: number; readonly probing: boolean };

export type BreakerLimits = {
  /** Consecutive failures that open the breaker, if they took at least `failingForMs`. */
  readonly failuresToOpen: number;
  readonly failingForMs: number;
  /**
   * This many consecutive failures open the breaker at once. A destination that fails every other time never reaches
   * this number by chance.
   */
  readonly failuresToOpenAtOnce: number;
  /**
   * A failure after at least this time counts as `hungCounts` failures, since its request held up events for so long.
   */
  readonly hungMs: number;
  readonly hungCounts: number;
  readonly openMinMs: number;
  readonly openMaxMs: number;
};

export const breakerLimits: BreakerLimits = {
  failuresToOpen: 10,
  failingForMs: 250,
  failuresToOpenAtOnce: 50,
  hungMs: 2_000,
  hungCounts: 3,
  openMinMs: 1_000,
  openMaxMs: 60_000,
};

/**
 * Limits for a destination that refuses its key or token: no request changes that, but a single refusal may concern
 * only one event.
 */
export const accessBreakerLimits = {
  failuresToOpen: 3,
  failingForMs: 0,
  failuresToOpenAtOnce: 3,
  hungMs: Infinity,
  hungCounts: 1,
} as const satisfies Partial<BreakerLimits>;

export const closedBreaker: BreakerState = { kind: 'closed', failuresInARow: 0, sinceMs: 0 };

/** The state at `nowMs`: an open breaker becomes half-open once its time is over. */
export function breakerAt(state: BreakerState, nowMs: number): BreakerState {
  if (state.kind !== 'open' || nowMs < state.untilMs) return state;
  return { kind: 'half-open', timesOpened: state.timesOpened, probing: false };
}

/** Number of requests that the breaker allows to be started now, in addition to those in flight. */
export function breakerRoom(state: BreakerState): number {
  switch (state.kind) {
    case 'closed':
      return Infinity;
    case 'open':
      return 0;
    case 'half-open':
      return state.probing ? 0 : 1;
  }
}

/** Call when a request was started. */
export function breakerStarted(state: BreakerState): BreakerState {
  return state.kind === 'half-open' ? { ...state, probing: true } : state;
}

/** Call when a probe was started but made no request. */
export function breakerUnasked(state: BreakerState): BreakerState {
  return state.kind === 'half-open' ? { ...state, probing: false } : state;
}

/** A request that ended: whether the destination is up, and times in ms on a monotonic clock. */
export type EndedRequest = { readonly ok: boolean; readonly startedMs: number; readonly endedMs: number };

/**
 * Call when a request ended. An answer to a request that was in flight when the breaker opened changes nothing, unless
 * it shows that the destination is up. `random` in [0, 1) spreads the times at which many breakers probe again.
 */
export function breakerEnded(
  state: BreakerState,
  { ok, startedMs, endedMs: nowMs }: EndedRequest,
  random: number,
  limits: BreakerLimits = breakerLimits,
): BreakerState {
  if (ok) return state.kind === 'closed' && state.failuresInARow === 0 ? state : closedBreaker;
  switch (state.kind) {
    case 'closed': {
      const hasHung = nowMs - startedMs >= limits.hungMs;
      const failuresInARow = state.failuresInARow + (hasHung ? limits.hungCounts : 1);
      const firstMs = hasHung ? startedMs : nowMs;
      const sinceMs = state.failuresInARow === 0 ? firstMs : state.sinceMs;
      const isLong = failuresInARow >= limits.failuresToOpen && nowMs - sinceMs >= limits.failingForMs;
      if (isLong || failuresInARow >= limits.failuresToOpenAtOnce) return open(1, nowMs, random, limits);
      return { kind: 'closed', failuresInARow, sinceMs };
    }
    case 'half-open':
      return open(state.timesOpened + 1, nowMs, random, limits);
    case 'open':
      return state;
  }
}

function open(timesOpened: number, nowMs: number, random: number, limits: BreakerLimits): BreakerState {
  const longestMs = Math.min(limits.openMaxMs, limits.openMinMs * 2 ** Math.min(timesOpened - 1, 30));
  return { kind: 'open', timesOpened, untilMs: nowMs + longestMs * (0.5 + random / 2) };
}
