import type { JsonObject } from '../process/json.ts';

/** The same members under the names a platform has for them; those it gives no name keep their own. Without nulls. */
export function renameMembers(members: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  const renamed = Object.entries(members).map(([name, value]) => [names.get(name) ?? name, value] as const);
  return Object.fromEntries(renamed.filter(([, value]) => value !== null && value !== undefined));
}

/** The members with other names than these. */
export function withoutMembers(members: JsonObject, names: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.has(name)));
}
