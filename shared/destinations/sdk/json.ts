import type { JsonObject } from '../../runtime/json.ts';

/**
 * The object without what is not set; undefined where nothing of it is: some platforms refuse empty objects, and lists
 * of nothing.
 */
export function present<Given extends object>(given: Given): Partial<Given> | undefined {
  const entries = Object.entries(given).filter(([, value]) => isSet(value));
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as Partial<Given>);
}

/** A list of one, or nothing: many platforms take each datum of a person as a list. */
export function listOf<Item>(item: Item | undefined): readonly Item[] | undefined {
  return item === undefined ? undefined : [item];
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
}

/** The same members under the names a platform has for them; those it gives no name keep their own. Without nulls. */
export function renameMembers(members: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  const renamed = Object.entries(members).map(([name, value]) => [names.get(name) ?? name, value] as const);
  return Object.fromEntries(renamed.filter(([, value]) => value !== null && value !== undefined));
}

/** The members with other names than these. */
export function withoutMembers(members: JsonObject, names: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.has(name)));
}

/**
 * A JSON array of values that are JSON already. Its brackets are joined with them: a text that they are put around
 * later is copied as a whole.
 */
export function jsonArrayOf([first, ...rest]: readonly string[]): string {
  if (first === undefined) return '[]';
  const last = rest.pop();
  return last === undefined ? `[${first}]` : [`[${first}`, ...rest, `${last}]`].join(',');
}
