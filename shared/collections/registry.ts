import type { CollectionName } from '../config/account-config.ts';
import type { Collection } from './define.ts';
import { destinations } from './destinations.ts';
import { sources } from './sources.ts';

/** Every collection there is. */
export const collections: readonly Collection[] = [destinations, sources];

const byName: ReadonlyMap<string, Collection> = new Map(collections.map((collection) => [collection.name, collection]));

export function findCollection(name: string): Collection | undefined {
  return byName.get(name);
}

/** The collection of a name that is known to be one. */
export function collectionOf(name: CollectionName): Collection {
  const collection = byName.get(name);
  if (collection === undefined) throw new Error(`collection ${name} is not registered`);
  return collection;
}
