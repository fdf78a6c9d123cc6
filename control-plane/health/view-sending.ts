import { Type } from 'typebox';
import type { HealthRecord } from '../../shared/contracts/health-record.ts';

export const accessRefusedReply = Type.Boolean({
  description: 'Whether the platform rejects the key or token. While it does, events wait.',
});

/** Whether the destination refuses its key or token, from the instance with the last attempt. Pure. */
export function isAccessRefused(reports: readonly HealthRecord[]): boolean {
  const newest = reports.toSorted((a, b) => (a.lastDispatchedAt ?? 0) - (b.lastDispatchedAt ?? 0)).at(-1);
  return newest?.accessRefused === true;
}

/** The state of requests to a destination, from the instance with the last attempt. Pure. */
export function viewSending(reports: readonly HealthRecord[]) {
  const [newest] = reports
    .filter(({ sending }) => sending !== undefined)
    .toSorted((a, b) => (b.lastDispatchedAt ?? 0) - (a.lastDispatchedAt ?? 0));
  const atMs = newest?.lastDispatchedAt ?? null;
  return {
    breaker: newest?.sending?.breaker ?? null,
    isAccessRefused: isAccessRefused(reports),
    concurrency: newest?.sending?.concurrency ?? null,
    answerMs: newest?.sending?.answerMs ?? null,
    at: atMs === null ? null : new Date(atMs).toISOString(),
  };
}
