import type { OutboundAnswer } from './outbound.ts';
import type { Outcome } from './outcome.ts';

const delivered: Outcome = { kind: 'delivered' };

/** The outcome of a response's status for every event of the request. */
export function classifyAnswer(answer: OutboundAnswer, nowMs: number): Outcome {
  const { status } = answer;
  if (status >= 200 && status < 300) return delivered;
  const reason = `status ${status}`;
  if (refusesAccess.has(status)) return { kind: 'retry', reason, refusesAccess: true };
  if (!isWorthAnotherAttempt(status)) return { kind: 'reject', reason };
  const afterMs = readRetryAfter(answer.headers['retry-after'], nowMs) ?? readReset(answer, nowMs);
  return afterMs === undefined ? { kind: 'retry', reason } : { kind: 'retry', reason, afterMs };
}

// Unauthorized, Forbidden, and HubSpot's Migration in Progress, for up to 24 hours: these concern the destination's key
// or account, not the events. https://developers.hubspot.com/docs/api-reference/error-handling
const refusesAccess: ReadonlySet<number> = new Set([401, 403, 477]);

// Request Timeout, Misdirected Request, Locked, Too Early, Too Many Requests, and server errors. Redirects are never
// followed, so that requests go only to the address that the destination's owner configured.
const worthAnotherAttempt: ReadonlySet<number> = new Set([408, 421, 423, 425, 429]);
const isWorthAnotherAttempt = (status: number): boolean => worthAnotherAttempt.has(status) || status >= 500;

/**
 * The delay of a Retry-After header in ms: a number of seconds or a date (RFC 9110, section 10.2.3). Some servers
 * send fractions. If a proxy added a header, the longest delay counts. Undefined if no value is valid; never negative.
 */
export function readRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  // A comma within a date is not a separator.
  const waits = (value ?? '').split(/,(?![^,]*GMT)/).map((each) => readWait(each.trim(), nowMs));
  return longest(waits);
}

function readWait(text: string, nowMs: number): number | undefined {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1_000);
  // Date.parse accepts nearly anything; an HTTP date starts with the weekday.
  if (!/^[A-Za-z]{3}/.test(text)) return undefined;
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}

const resetNames = ['ratelimit-reset', 'x-ratelimit-reset', 'x-rate-limit-reset'] as const;

/**
 * When the quota of a throttled request is renewed, in ms from now; undefined without a valid header. Reads
 * `RateLimit` (draft-ietf-httpapi-ratelimit-headers) and older headers, which contain a delay in seconds or a time
 * since the epoch.
 */
function readReset({ status, headers }: OutboundAnswer, nowMs: number): number | undefined {
  if (status !== 429 && status !== 503) return undefined;
  const [, inRateLimit] = /(?:^|[;,\s])(?:t|reset)=(\d{1,13})(?:$|[;,\s])/.exec(headers['ratelimit'] ?? '') ?? [];
  const texts = [inRateLimit, ...resetNames.map((name) => headers[name])];
  return longest(
    texts.map((text) => {
      if (text === undefined || !/^\d{1,13}(?:\.\d+)?$/.test(text.trim())) return undefined;
      const value = Number(text);
      if (value >= epochMsMin) return Math.max(0, value - nowMs);
      return value >= epochSecondsMin ? Math.max(0, value * 1_000 - nowMs) : Math.ceil(value * 1_000);
    }),
  );
}

/** From this number on, a value is a time since the epoch, because no delay is thirty years. */
const epochSecondsMin = 1e9;
const epochMsMin = 1e12;

function longest(waits: readonly (number | undefined)[]): number | undefined {
  const known = waits.filter((wait) => wait !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}
