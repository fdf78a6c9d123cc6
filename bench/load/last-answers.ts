import type { ConnectionPool } from './connection-pool.ts';
import type { LoadRecorder } from './load-recorder.ts';

/** Maximum wait for responses, longer than a measured service takes to answer a request. */
const lastAnswersMs = 5_000;
const pollMs = 1;

/**
 * Waits, when a measurement ends, for the requests in flight, so that the slowest are included. Returns the number of
 * requests still unanswered; these count in the percentiles with their waiting time so far.
 */
export async function takeLastAnswers(
  pool: Pick<ConnectionPool, 'inFlight' | 'waitingSince'>,
  recorder: LoadRecorder,
  deadlineMs = lastAnswersMs,
): Promise<number> {
  const endedMs = performance.now();
  while (pool.inFlight > 0 && performance.now() - endedMs < deadlineMs) {
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  const waiting = pool.waitingSince();
  const nowMs = performance.now();
  for (const dueMs of waiting) recorder.recordUnanswered(nowMs - dueMs);
  return waiting.length;
}
