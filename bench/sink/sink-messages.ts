import type { Percentiles } from '../load/load-recorder.ts';

/** What arrived under one first part of a path, since the sink started (counts) and since it was last asked (the rest). */
export type SinkGroup = {
  readonly requests: number;
  readonly events: number;
  /** From when the event was due at the gateway until it was here. */
  readonly latencyMs: Percentiles;
  /** Since the sink was last reset. */
  readonly overallMs: Percentiles;
  /** Different paths that got something. */
  readonly paths: number;
};

export type SinkTally = { readonly atMs: number; readonly groups: Readonly<Record<string, SinkGroup>> };

export type SinkRequest =
  | { readonly kind: 'take' }
  /** Asks for the overall latencies of a group, as text. */
  | { readonly kind: 'latencies'; readonly group: string }
  | { readonly kind: 'forget' };

/** First part of the path of requests that are answered after half a minute. */
export const slowGroup = 'slow';
/** Stands before the time an event was due, in every event of the bench. */
export const dueMark = '"sent_at":';
