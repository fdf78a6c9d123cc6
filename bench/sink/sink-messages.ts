import type { Percentiles } from '../load/load-recorder.ts';

/**
 * Arrivals at paths with the same first segment: counts since the sink started, everything else since the last request.
 */
export type SinkGroup = {
  readonly requests: number;
  readonly events: number;
  /** From the event's due time at the gateway until it arrived here. */
  readonly latencyMs: Percentiles;
  /** Since the sink was last reset. */
  readonly overallMs: Percentiles;
  /** Number of different paths with requests. */
  readonly paths: number;
};

export type SinkTally = { readonly atMs: number; readonly groups: Readonly<Record<string, SinkGroup>> };

export type SinkRequest =
  | { readonly kind: 'take' }
  /** Requests the overall latencies of a group, as text. */
  | { readonly kind: 'latencies'; readonly group: string }
  | { readonly kind: 'forget' };

/** First path segment of requests that are answered after half a minute. */
export const slowGroup = 'slow';
/** Text before the due time in every event of the bench. */
export const dueMark = '"sent_at":';
