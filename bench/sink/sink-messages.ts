import type { Percentiles } from '../load/load-recorder.ts';

/** Arrivals at paths with the same first segment. `requests` and `events` count since the sink started. */
export type SinkGroup = {
  readonly requests: number;
  readonly events: number;
  /** Time from an event's due time at the gateway to its arrival; since the last tally. */
  readonly latencyMs: Percentiles;
  /** The same latencies since the last `forget`. */
  readonly overallMs: Percentiles;
  /** Number of different paths with requests since the last `forget`. */
  readonly paths: number;
};

export type SinkTally = { readonly atMs: number; readonly groups: Readonly<Record<string, SinkGroup>> };

export type SinkRequest =
  | { readonly kind: 'take' }
  /** Requests the latencies of a group since the last `forget`, as text. */
  | { readonly kind: 'latencies'; readonly group: string }
  | { readonly kind: 'forget' };

/** First path segment of the requests that are answered after half a minute. */
export const slowGroup = 'slow';
/** Text that precedes the due time in every event of the bench. */
export const dueMark = '"sent_at":';
