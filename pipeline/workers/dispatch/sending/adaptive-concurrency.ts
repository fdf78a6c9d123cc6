/** How many requests to one destination may be in flight now. */
export type AdaptiveConcurrency = {
  readonly limit: number;
  /** Below this value `limit` grows quickly, since the destination was not overloaded there yet. */
  readonly knownGood: number;
  /** When `limit` was last reduced, on the caller's clock, in ms. */
  readonly cutAtMs: number;
};

/**
 * Limit of requests in flight before the first answer: it is not worth opening a connection for each of a few events.
 */
const firstLimit = 4;

export function openConcurrency(max: number): AdaptiveConcurrency {
  return { limit: Math.min(firstLimit, max), knownGood: max, cutAtMs: -Infinity };
}

/**
 * Adapts the limit by slow start, then additive increase and multiplicative decrease, as in TCP (RFC 5681). At first
 * each successful request adds one, so that a full round doubles the limit. After a refusal for too many requests, or
 * no answer in time, the limit is halved; from then on a full round adds one. Requests that were in flight at a
 * reduction do not cause another reduction, so that one overload reduces the limit once.
 */
export function adaptConcurrency(
  state: AdaptiveConcurrency,
  end: 'well' | 'overloaded',
  max: number,
  at: { readonly startedMs: number; readonly endedMs: number },
): AdaptiveConcurrency {
  const { limit, knownGood, cutAtMs } = state;
  if (end === 'well') {
    if (limit >= max) return state;
    return { limit: Math.min(max, limit + (limit < knownGood ? 1 : 1 / limit)), knownGood, cutAtMs };
  }
  if (at.startedMs <= cutAtMs) return state;
  const half = Math.max(1, limit / 2);
  return { limit: half, knownGood: half, cutAtMs: at.endedMs };
}
