import type { HealthRecord } from '../../shared/contracts/health-record.ts';

/** How requests to a destination go, as the instance says that asked it last. Pure. */
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
