import type { JsonObject } from '../../runtime/json.ts';

/**
 * The object without members that are undefined, null or an empty list; undefined if no member is
 * left. Some platforms refuse empty objects and lists.
 */
export function present<Given extends object>(given: Given): Partial<Given> | undefined {
  const entries = Object.entries(given).filter(([, value]) => isSet(value));
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as Partial<Given>);
}

/**
 * A list with one value; undefined without a value. Many platforms expect a person's identifiers in
 * lists.
 */
export function listOf<Item>(item: Item | undefined): readonly Item[] | undefined {
  return item === undefined ? undefined : [item];
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
}

/**
 * The members under the platform's names; a name that is not in `names` stays unchanged. Null and undefined members are
 * left out.
 */
export function renameMembers(members: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  const renamed = Object.entries(members).map(([name, value]) => [names.get(name) ?? name, value] as const);
  return Object.fromEntries(renamed.filter(([, value]) => value !== null && value !== undefined));
}

/** The members whose names are not in `names`. */
export function withoutMembers(members: JsonObject, names: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.has(name)));
}

/**
 * A JSON array of values that are already JSON. The brackets are joined together with the values,
 * because adding brackets to the joined text would copy it once more.
 */
export function jsonArrayOf([first, ...rest]: readonly string[]): string {
  if (first === undefined) return '[]';
  const last = rest.pop();
  return last === undefined ? `[${first}]` : [`[${first}`, ...rest, `${last}]`].join(',');
}
