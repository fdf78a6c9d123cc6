import type { ConnectionPool } from './connection-pool.ts';
import type { LoadRecorder, LoadWindow, Percentiles } from './load-recorder.ts';
import type { WarmedUp } from './steady.ts';

/** Measurements of a load generator. */
export type LoadResult = {
  readonly answersPerS: number;
  readonly answers: number;
  readonly byStatus: Readonly<Record<string, number>>;
  /** Number of requests whose connection broke before the response. */
  readonly failures: number;
  /** Number of requests still unanswered some time after the end. */
  readonly unanswered: number;
  readonly latencyMs: Percentiles;
  readonly windows: readonly LoadWindow[];
  readonly seconds: number;
  /** Number of responses with status 200, including responses during the warm-up. */
  readonly acceptedInAll: number;
  /** Open loop: number of due requests that were dropped, or not sent before the end, for want of a free connection. */
  readonly unsent: number;
  readonly warmedUp: WarmedUp;
};

export function resultOf(
  recorder: LoadRecorder,
  seconds: number,
  pool: Pick<ConnectionPool, 'failures' | 'accepted'>,
  { unsent, unanswered, warmedUp }: Pick<LoadResult, 'unsent' | 'unanswered' | 'warmedUp'>,
): LoadResult {
  return {
    answersPerS: recorder.answers / seconds,
    answers: recorder.answers,
    byStatus: Object.fromEntries(recorder.byStatus),
    failures: pool.failures,
    unanswered,
    acceptedInAll: pool.accepted,
    latencyMs: recorder.percentiles(),
    windows: recorder.windows,
    seconds,
    unsent,
    warmedUp,
  };
}

/** Whether every request was answered with 200; otherwise the measurement is worthless. */
export function isAllAccepted({ answers, byStatus, failures, unanswered }: LoadResult): boolean {
  return answers > 0 && Object.keys(byStatus).every((status) => status === '200') && failures + unanswered === 0;
}

export function assertAllAccepted(name: string, load: LoadResult): void {
  if (isAllAccepted(load)) return;
  const statuses = JSON.stringify(load.byStatus);
  throw new Error(`measuring ${name}: answers ${statuses}, ${load.failures + load.unanswered} requests unanswered`);
}
