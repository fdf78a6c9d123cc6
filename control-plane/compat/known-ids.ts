import type { EntityManager } from '@mikro-orm/postgresql';
import type { CollectionName } from '../../shared/collections/registry.ts';
import { missingEntities } from '../draft/entity-store.ts';

/**
 * The `ids` that the account has, without repeats. Users of the platform library expect that ids of deleted entities
 * are dropped silently, and that the reply lists the kept ids.
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
