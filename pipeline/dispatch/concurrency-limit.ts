/** How many requests to one destination may be in flight now. */
export type ConcurrencyLimit = {
  readonly limit: number;
  /** When it was cut last, on the clock the caller uses, in ms. */
  readonly cutAtMs: number;
};

export function openConcurrency(max: number): ConcurrencyLimit {
  return { limit: max, cutAtMs: -Infinity };
}

/**
 * Additive increase, multiplicative decrease: a request that went well adds a share, so that a full round of them adds
 * one; one that was refused for coming too often, or got no answer in time, halves the limit. Requests that were under
 * way when it was cut say nothing of the new limit: one overload cuts once.
 */
export function adaptConcurrency(
  { limit, cutAtMs }: ConcurrencyLimit,
  end: 'well' | 'overloaded',
  max: number,
  at: { readonly startedMs: number; readonly endedMs: number },
): ConcurrencyLimit {
  if (end === 'well') return { limit: Math.min(max, limit + 1 / limit), cutAtMs };
  if (at.startedMs <= cutAtMs) return { limit, cutAtMs };
  return { limit: Math.max(1, limit / 2), cutAtMs: at.endedMs };
}
