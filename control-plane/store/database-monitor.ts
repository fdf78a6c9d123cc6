import { every } from '../../shared/runtime/every.ts';
import type { ReadyCheck } from '../../shared/runtime/status/serve-status.ts';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import type { PoolFigures } from '../../shared/postgres/database-metrics.ts';

/** Checks every two seconds whether PostgreSQL responds. */
export type DatabaseMonitor = { readonly check: ReadyCheck; stop(): Promise<void> };

const everyMs = 2_000;
const deadlineMs = 2_000;

export function monitorDatabase(storage: Storage): DatabaseMonitor {
  let ok = true;
  const looking = every(
    everyMs,
    async () => {
      ok = await answersInTime(storage);
    },
    { atOnce: true },
  );
  return {
    check: {
      name: 'database',
      check: () => (ok ? { ok } : { ok, detail: 'PostgreSQL at DATABASE_URL does not answer' }),
    },
    stop: () => looking.stop(),
  };
}

async function answersInTime(storage: Storage): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), deadlineMs);
  });
  const answer = storage
    .fork()
    .execute('select 1')
    .then(
      () => true,
      () => false,
    );
  const ok = await Promise.race([answer, late]);
  clearTimeout(timer);
  return ok;
}

/** Usage of the pool below the object mapper. */
type KnexPool = { numUsed(): number; numFree(): number; numPendingAcquires(): number; readonly max: number };

/** Use of the connections over which the configuration is read and written. */
export function storagePoolFigures(storage: Storage): PoolFigures {
  const knex = storage.orm.em.getConnection().getKnex();
  // The pool does not exist before the first query.
  const { pool } = knex.client as { readonly pool?: KnexPool };
  if (pool === undefined) return { used: 0, idle: 0, waiting: 0, connectionsMax: 0 };
  return { used: pool.numUsed(), idle: pool.numFree(), waiting: pool.numPendingAcquires(), connectionsMax: pool.max };
}
