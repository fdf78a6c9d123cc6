import type { OutboundAnswer } from './outbound.ts';
import type { Outcome } from './outcome.ts';

const delivered: Outcome = { kind: 'delivered' };

/**
 * What an answer's status means for every event of the request: RFC 9110 for the codes worth another attempt. Unauthorized
 * and Forbidden are about the destination's key, whatever it carries.
 */
export function classifyAnswer(answer: OutboundAnswer, nowMs: number): Outcome {
  const { status } = answer;
  if (status >= 200 && status < 300) return delivered;
  const reason = `status ${status}`;
  if (status === 401 || status === 403) return { kind: 'retry', reason, refusesAccess: true };
  if (!isWorthAnotherAttempt(status)) return { kind: 'reject', reason };
  const afterMs = readRetryAfter(answer.headers['retry-after'], nowMs);
  return afterMs === undefined ? { kind: 'retry', reason } : { kind: 'retry', reason, afterMs };
}

// Request Timeout, Too Early, Too Many Requests, and the server's own trouble. A redirect is never followed: the
// address of a destination is what its owner wrote down.
function isWorthAnotherAttempt(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

/**
 * How long a Retry-After header asks to wait, in ms: a number of seconds or a date (RFC 9110, section 10.2.3).
 * Undefined when there is none or it says nothing readable; never negative.
 */
export function readRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  // Date.parse takes nearly anything; an HTTP date begins with the day's name.
  if (!/^[A-Za-z]{3}/.test(text)) return undefined;
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}
