import { consentMarks } from '../contracts/events/consent-words.ts';
import { isJsonObject } from '../runtime/json.ts';
import type { JsonObject } from '../runtime/json.ts';

/** Whether a member of a `consent` object denies its purpose. */
export const isDenial = (value: unknown): boolean =>
  value === false || (typeof value === 'string' && value.toLowerCase() === 'denied');

/**
 * The members of a `consent` object that deny, as they are written, with the Global Privacy Control signal; undefined if
 * there are none.
 */
export function denialsIn(consent: unknown): JsonObject | undefined {
  if (!isJsonObject(consent)) return undefined;
  const denials = Object.entries(consent).filter(([name, value]) =>
    name === 'rejected_categories'
      ? Array.isArray(value) && value.length > 0
      : isDenial(value) || (name === consentMarks.gpc && value === true),
  );
  return denials.length === 0 ? undefined : Object.fromEntries(denials);
}
