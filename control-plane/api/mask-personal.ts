import { maskValue } from '../../shared/routing/tracking-plan/describe-hit.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';

/**
 * Masks the values of some members of a reply, at any depth, for keys without `pii:read`. Texts and numbers keep their
 * shape. Booleans, null, numbers below 10, names and the number of items stay unchanged.
 */
export function maskPersonal(reply: unknown, members: readonly string[]): unknown {
  if (Array.isArray(reply)) return reply.map((item) => maskPersonal(item, members));
  if (!isJsonObject(reply)) return reply;
  const entries = Object.entries(reply).map(
    ([name, value]) => [name, members.includes(name) ? masked(value) : maskPersonal(value, members)] as const,
  );
  return Object.fromEntries(entries);
}

function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (isJsonObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, masked(item)] as const));
  }
  if (typeof value === 'string') return value === '' ? '' : maskValue(value);
  if (typeof value === 'number') return Math.abs(value) < 10 && Number.isInteger(value) ? value : maskedNumber(value);
  return value;
}

/** A number with more digits would be rounded, because numbers are doubles. */
const digitsMax = 15;

function maskedNumber(value: number): number {
  const digits = String(value).replace(/e.*$/, '').slice(0, digitsMax);
  return Number(digits.replaceAll(/\d/g, '9'));
}
