import { copyMember, numberText, setNumber } from '../json/exact-numbers.ts';
import type { JsonObject } from '../runtime/json.ts';

/**
 * JSON as PostgreSQL's jsonb accepts it: without NUL characters, and with lone surrogates replaced, in names and
 * values. Numbers keep their digits. Returns the object itself if there is nothing to clean.
 */
export function cleanJson(value: JsonObject): JsonObject {
  // JSON.stringify escapes NUL characters and lone surrogates. An escaped backslash may match too, which only costs
  // time.
  return /\\u(?:0000|d[89a-f])/.test(JSON.stringify(value)) ? (clean(value) as JsonObject) : value;
}

function clean(value: unknown): unknown {
  if (typeof value === 'string') return cleanString(value);
  if (typeof value !== 'object' || value === null) return value;
  const from = value as Readonly<Record<string, unknown>>;
  const made = Array.isArray(value) ? [] : {};
  for (const name of Object.keys(from)) {
    const text = numberText(from, name);
    const cleaned = cleanString(name);
    if (cleaned === '__proto__') continue;
    const to = made as Record<string, unknown>;
    if (text === undefined) copyMember(to, cleaned, { member: clean(from[name]) }, 'member');
    else setNumber(to, cleaned, text);
  }
  return made;
}

function cleanString(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}
