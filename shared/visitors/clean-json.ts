import type { JsonObject } from '../runtime/json.ts';

/**
 * JSON as PostgreSQL's jsonb takes it: NUL characters taken out and lone surrogates replaced, in names and values.
 * Returns the object itself when there are none, which a look at its text decides.
 */
export function cleanJson(value: JsonObject): JsonObject {
  // JSON.stringify writes both as an escape; a backslash that is itself escaped only costs the slow way.
  return /\\u(?:0000|d[89a-f])/.test(JSON.stringify(value)) ? (clean(value) as JsonObject) : value;
}

function clean(value: unknown): unknown {
  if (typeof value === 'string') return cleanString(value);
  if (Array.isArray(value)) return value.map(clean);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [cleanString(name), clean(member)]));
}

function cleanString(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}
