import type { EntityManager } from '@mikro-orm/postgresql';
import type { SnapshotEntity } from '../../shared/contracts/config/account-config.ts';
import { liveVersionId } from '../draft/live-version.ts';

/** A destination as the version the account runs has it; undefined where that has none. */
export async function findLiveDestination(
  em: EntityManager,
  accountId: string,
  id: string,
): Promise<SnapshotEntity | undefined> {
  const versionId = await liveVersionId(em, accountId);
  if (versionId === undefined) return undefined;
  // Only the one leaves the database: a snapshot can be large.
  const [row] = await em.execute<{ destination: SnapshotEntity }[]>(
    `select destination from versions, jsonb_array_elements(content -> 'destinations') as destination
     where versions.id = ? and destination ->> 'id' = ?`,
    [versionId, id],
  );
  return row?.destination;
}
