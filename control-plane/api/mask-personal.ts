import { maskValue } from '../../shared/routing/tracking-plan/describe-hit.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';

/**
 * A reply with the values of some members masked, wherever they stand: texts and numbers keep their shape, booleans, null
 * and numbers below 10 stay, and so do names and the number of items. For keys without `pii:read`, where the account masks personal data.
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

/** More digits than a double holds would be rounded. */
const digitsMax = 15;

function maskedNumber(value: number): number {
  const digits = String(value).replace(/e.*$/, '').slice(0, digitsMax);
  return Number(digits.replaceAll(/\d/g, '9'));
}
