import type { JsonObject } from '../../runtime/json.ts';
import { textOf } from './event.ts';

/** First and last name of a person; undefined for what is not known. */
export type PersonName = { readonly firstName: string | undefined; readonly lastName: string | undefined };

/**
 * The names in a person's properties. Where one of them is missing it is taken from a whole `name`, as libraries of
 * customer data do: the first word is the first name, what follows it the last name.
 */
export function nameIn(properties: JsonObject): PersonName {
  const first = textOf(properties['first_name']);
  const last = textOf(properties['last_name']);
  if (first !== undefined && last !== undefined) return { firstName: first, lastName: last };
  const whole = wholeName(properties);
  return { firstName: first ?? whole.firstName, lastName: last ?? whole.lastName };
}

/** The parts of the whole name that a visitor has, among its own properties or beside them. */
export function wholeName(properties: JsonObject): PersonName {
  const [firstName, ...rest] = (textOf(properties['name']) ?? '').trim().split(/\s+/);
  return { firstName: textOf(firstName), lastName: textOf(rest.join(' ')) };
}
