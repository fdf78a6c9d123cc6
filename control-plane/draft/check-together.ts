import type { EntityManager } from '@mikro-orm/postgresql';
import type { CollectionName } from '../../shared/contracts/config/account-config.ts';
import { checkVariantEdit } from './check-variant-edit.ts';
import type { EntityEdit } from './refuse-problems.ts';

type CheckEdit = (em: EntityManager, accountId: string, edit: EntityEdit) => Promise<void>;

const checks: Partial<Record<CollectionName, CheckEdit>> = { experimentVariants: checkVariantEdit };

/** Judges an edit by the entities beside it, in collections whose entities only make sense together. Throws a 400. */
export async function checkTogether(
  em: EntityManager,
  accountId: string,
  collection: CollectionName,
  edit: EntityEdit,
): Promise<void> {
  await checks[collection]?.(em, accountId, edit);
}
