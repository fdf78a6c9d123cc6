/** How many requests to one destination may be in flight now. */
export type ConcurrencyLimit = {
  readonly limit: number;
  /** Up to here it grows quickly: nothing was found to be too much yet. */
  readonly knownGood: number;
  /** When it was cut last, on the clock the caller uses, in ms. */
  readonly cutAtMs: number;
};

/** Requests in flight before any of them was answered: a few events are not worth a connection each. */
const firstLimit = 4;

export function openConcurrency(max: number): ConcurrencyLimit {
  return { limit: Math.min(firstLimit, max), knownGood: max, cutAtMs: -Infinity };
}

/**
 * Slow start, then additive increase and multiplicative decrease, as TCP does (RFC 5681): a request that went well adds
 * one, so that a full round of them doubles the limit; once one was refused for coming too often, or got no answer in
 * time, the limit is halved, and from there a full round adds one. Requests that were under way when it was cut say
 * nothing of the new limit: one overload cuts once.
 */
export function adaptConcurrency(
  state: ConcurrencyLimit,
  end: 'well' | 'overloaded',
  max: number,
  at: { readonly startedMs: number; readonly endedMs: number },
): ConcurrencyLimit {
  const { limit, knownGood, cutAtMs } = state;
  if (end === 'well') {
    if (limit >= max) return state;
    return { limit: Math.min(max, limit + (limit < knownGood ? 1 : 1 / limit)), knownGood, cutAtMs };
  }
  if (at.startedMs <= cutAtMs) return state;
  const half = Math.max(1, limit / 2);
  return { limit: half, knownGood: half, cutAtMs: at.endedMs };
}
