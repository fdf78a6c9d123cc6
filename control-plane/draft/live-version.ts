import type { EntityManager } from '@mikro-orm/postgresql';
import type { EnabledStatus } from '../../shared/contracts/config/define-collection.ts';
import { Account } from '../../shared/postgres/entities.ts';
import type { SnapshotEntity } from '../../shared/contracts/config/account-config.ts';

/** The id of the account's live version; undefined if the account has not published a version. */
export async function liveVersionId(em: EntityManager, accountId: string): Promise<string | undefined> {
  const account = await em.findOneOrFail(Account, { id: accountId }, { refresh: true });
  return account.liveVersionId ?? undefined;
}

/** A destination of the account's live version; undefined if that version has no destination with this id. */
export function findLiveDestination(
  em: EntityManager,
  accountId: string,
  id: string,
): Promise<SnapshotEntity | undefined> {
  return findLive(em, accountId, 'destinations', id);
}

/** A source of the account's live version; undefined if that version has no source with this id. */
export function findLiveSource(em: EntityManager, accountId: string, id: string): Promise<SnapshotEntity | undefined> {
  return findLive(em, accountId, 'sources', id);
}

async function findLive(
  em: EntityManager,
  accountId: string,
  collection: 'destinations' | 'sources',
  id: string,
): Promise<SnapshotEntity | undefined> {
  const versionId = await liveVersionId(em, accountId);
  if (versionId === undefined) return undefined;
  // Only this entity is read from the database, because a snapshot can be large.
  const [row] = await em.execute<{ entity: SnapshotEntity }[]>(
    `select entity from versions, jsonb_array_elements(content -> '${collection}') as entity
     where versions.account_id = ? and versions.id = ? and entity ->> 'id' = ?`,
    [accountId, versionId, id],
  );
  return row?.entity;
}

/** The status of each source in the account's live version, by id. */
export async function liveSources(em: EntityManager, accountId: string): Promise<ReadonlyMap<string, EnabledStatus>> {
  const id = await liveVersionId(em, accountId);
  if (id === undefined) return new Map();
  // Only these fields are read from the database, because a snapshot can be large.
  const rows: { id: string; status: EnabledStatus }[] = await em.execute(
    `select source ->> 'id' as id, source ->> 'status' as status
     from versions, jsonb_array_elements(content -> 'sources') as source
     where versions.account_id = ? and versions.id = ?`,
    [accountId, id],
  );
  return new Map(rows.map((row) => [row.id, row.status]));
}
