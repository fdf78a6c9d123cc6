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
