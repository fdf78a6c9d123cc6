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
