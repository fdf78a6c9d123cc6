import type { OutboundAnswer, Outcome } from '../destinations/sdk/destination.ts';
import { readRetryAfter } from './retry-after.ts';

const delivered: Outcome = { kind: 'delivered' };

/** What an answer's status means for every event of the request: RFC 9110 for the codes worth another attempt. */
export function classifyAnswer(answer: OutboundAnswer, nowMs: number): Outcome {
  const { status } = answer;
  if (status >= 200 && status < 300) return delivered;
  const reason = `status ${status}`;
  if (!isWorthAnotherAttempt(status)) return { kind: 'reject', reason };
  const afterMs = readRetryAfter(answer.headers['retry-after'], nowMs);
  return afterMs === undefined ? { kind: 'retry', reason } : { kind: 'retry', reason, afterMs };
}

// Request Timeout, Too Early, Too Many Requests, and the server's own trouble. A redirect is never followed: the
// address of a destination is what its owner wrote down.
function isWorthAnotherAttempt(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}
