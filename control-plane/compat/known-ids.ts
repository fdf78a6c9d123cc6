import type { EntityManager } from '@mikro-orm/postgresql';
import type { CollectionName } from '../../shared/collections/registry.ts';
import { missingEntities } from '../draft/entity-store.ts';

/**
 * The `ids` that the account has, each once. The platform library's users expect ids of deleted entities to be
 * dropped silently, and to see in the answer which were kept.
 */
export async function knownIds(
  em: EntityManager,
  accountId: string,
  collection: CollectionName,
  ids: readonly string[],
): Promise<readonly string[]> {
  const missing = new Set(await missingEntities(em, accountId, collection, ids));
  return [...new Set(ids)].filter((id) => !missing.has(id));
}
