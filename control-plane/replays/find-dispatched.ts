import type { EntityManager } from '@mikro-orm/postgresql';
import type { SnapshotEntity } from '../../shared/contracts/config/account-config.ts';
import type { ConfigEntityRow } from '../../shared/postgres/entities.ts';
import { findSourceKind } from '../../shared/sources/registry.ts';
import { findEntity } from '../draft/entity-store.ts';
import { findLiveDestination, findLiveSource } from '../draft/live-version.ts';

/**
 * The owner of dead letters, by its id: a destination, or a source whose notifications lead to requests to its
 * provider. Undefined if the account has neither.
 */
export async function findDispatched(
  em: EntityManager,
  accountId: string,
  id: string,
): Promise<ConfigEntityRow | undefined> {
  const destination = await findEntity(em, accountId, 'destinations', id);
  if (destination !== undefined) return destination;
  const source = await findEntity(em, accountId, 'sources', id);
  return findSourceKind(String(source?.body['type']))?.fetch === undefined ? undefined : source;
}

/** The same entity in the live version; undefined if the live version does not have it, or has no token for it. */
export async function findLiveDispatched(
  em: EntityManager,
  { collection, accountId, id }: ConfigEntityRow,
): Promise<SnapshotEntity | undefined> {
  if (collection !== 'sources') return findLiveDestination(em, accountId, id);
  const source = await findLiveSource(em, accountId, id);
  return typeof source?.['accessToken'] === 'string' ? source : undefined;
}
