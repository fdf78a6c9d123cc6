import type { HealthRecord } from '../../shared/contracts/health-record.ts';

/** The state of requests to a destination, from the instance with the last attempt. Pure. */
export function viewSending(reports: readonly HealthRecord[]) {
  const [newest] = reports
    .filter(({ sending }) => sending !== undefined)
    .toSorted((a, b) => (b.lastDispatchedAt ?? 0) - (a.lastDispatchedAt ?? 0));
  const atMs = newest?.lastDispatchedAt ?? null;
  return {
    breaker: newest?.sending?.breaker ?? null,
    isAccessRefused: newest?.accessRefused === true,
    concurrency: newest?.sending?.concurrency ?? null,
    answerMs: newest?.sending?.answerMs ?? null,
    at: atMs === null ? null : new Date(atMs).toISOString(),
  };
}
