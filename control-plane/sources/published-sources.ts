import type { EntityManager } from '@mikro-orm/postgresql';
import { liveVersionId } from '../draft/live-version.ts';

/** Ids of the sources in the version the account runs. */
export async function publishedSources(em: EntityManager, accountId: string): Promise<ReadonlySet<string>> {
  const id = await liveVersionId(em, accountId);
  if (id === undefined) return new Set();
  // Only the ids leave the database: a snapshot can be large.
  const rows: { id: string }[] = await em.execute(
    `select source ->> 'id' as id from versions, jsonb_array_elements(content -> 'sources') as source where versions.id = ?`,
    [id],
  );
  return new Set(rows.map((row) => row.id));
}
