import type { ConnectionPool } from './connection-pool.ts';
import type { LoadRecorder, LoadWindow, Percentiles } from './load-recorder.ts';

/** What a load generator measured. */
export type LoadResult = {
  readonly answersPerS: number;
  readonly answers: number;
  readonly byStatus: Readonly<Record<string, number>>;
  /** Connections that broke. */
  readonly failures: number;
  readonly latencyMs: Percentiles;
  readonly windows: readonly LoadWindow[];
  readonly seconds: number;
  /** Answers of 200 from the first to the last one, those of the warm-up included. */
  readonly acceptedInAll: number;
  /** Open loop: requests that were due and could not be sent before the end, since all connections waited. */
  readonly unsent: number;
};

export function resultOf(
  recorder: LoadRecorder,
  seconds: number,
  pool: Pick<ConnectionPool, 'failures' | 'accepted'>,
  unsent: number,
): LoadResult {
  return {
    answersPerS: recorder.answers / seconds,
    answers: recorder.answers,
    byStatus: Object.fromEntries(recorder.byStatus),
    failures: pool.failures,
    acceptedInAll: pool.accepted,
    latencyMs: recorder.percentiles(),
    windows: recorder.windows,
    seconds,
    unsent,
  };
}

/** Answers that were not 200, connections that broke, requests never sent: each makes a measurement worthless. */
export function assertAllAccepted(name: string, load: LoadResult): void {
  const refused = load.answers - (load.byStatus['200'] ?? 0);
  if (load.answers > 0 && refused === 0 && load.failures === 0) return;
  const statuses = JSON.stringify(load.byStatus);
  throw new Error(`measuring ${name}: answers ${statuses}, ${load.failures} requests unanswered`);
}
