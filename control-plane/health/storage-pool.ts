import type { PoolFigures } from '../../shared/postgres/database-metrics.ts';
import type { Storage } from '../../shared/postgres/open-storage.ts';

/** What is used of the pool below the object mapper. */
type KnexPool = { numUsed(): number; numFree(): number; numPendingAcquires(): number; readonly max: number };

/** The connections the configuration is read and written over. */
export function storagePoolFigures(storage: Storage): PoolFigures {
  const knex = storage.orm.em.getConnection().getKnex();
  // There is none before the first query.
  const { pool } = knex.client as { readonly pool?: KnexPool };
  if (pool === undefined) return { used: 0, idle: 0, waiting: 0, connectionsMax: 0 };
  return { used: pool.numUsed(), idle: pool.numFree(), waiting: pool.numPendingAcquires(), connectionsMax: pool.max };
}
