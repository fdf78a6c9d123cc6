import type { JsonObject } from '../../runtime/json.ts';
import { textOf } from './event.ts';

/** A person's first and last name; undefined if unknown. */
export type PersonName = { readonly firstName: string | undefined; readonly lastName: string | undefined };

/**
 * The name in a person's properties. A missing part is taken from a full `name`, as customer-data
 * libraries do: the first word is the first name, the rest the last name.
 */
export function nameIn(properties: JsonObject): PersonName {
  const first = textOf(properties['first_name']);
  const last = textOf(properties['last_name']);
  if (first !== undefined && last !== undefined) return { firstName: first, lastName: last };
  const whole = wholeName(properties);
  return { firstName: first ?? whole.firstName, lastName: last ?? whole.lastName };
}

/** The parts of a visitor's full name, from custom or well-known properties. */
export function wholeName(properties: JsonObject): PersonName {
  const [firstName, ...rest] = (textOf(properties['name']) ?? '').trim().split(/\s+/);
  return { firstName: textOf(firstName), lastName: textOf(rest.join(' ')) };
}
