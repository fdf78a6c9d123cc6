import type { Pool } from 'pg';
import { databaseAccess } from '../../shared/postgres/database-access.ts';
import type { DatabaseAccess } from '../../shared/postgres/database-access.ts';
import { poolFigures } from '../../shared/postgres/database-metrics.ts';
import type { PoolFigures } from '../../shared/postgres/database-metrics.ts';
import { migrate } from '../../shared/postgres/migrate.ts';
import { migrationList } from '../../shared/postgres/migrations/migration-list.ts';
import { openStorage } from '../../shared/postgres/open-storage.ts';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import { readRoles } from '../../shared/postgres/roles/role-settings.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Scope } from '../../shared/runtime/scope.ts';
import type { ReadyCheck } from '../../shared/runtime/status/serve-status.ts';
import { createVisitorPool } from '../../shared/visitors/visitor-pool.ts';
import { monitorDatabase, storagePoolFigures } from './database-monitor.ts';
import { readDatabasesSettings, visitorConnectionsMax } from './databases-settings.ts';

type DatabasesVariables = Parameters<typeof readDatabasesSettings>[0] &
  Parameters<typeof databaseAccess>[0] &
  Parameters<typeof readRoles>[0];

/** The connections to PostgreSQL: a pool for each use that must not wait for the others. */
export type Databases = {
  readonly access: DatabaseAccess;
  /** The configuration. */
  readonly storage: Storage;
  /** API keys and sessions. */
  readonly logins: Storage;
  /** Visitors and recent events. */
  readonly visitors: Pool;
  /** Assignments to experiments. */
  readonly assignments: Pool;
  readonly check: ReadyCheck;
  readonly figures: Readonly<Record<string, () => PoolFigures>>;
};

const assignmentConnectionsMax = 4;

/** Connections for API key lookups only, so that no other work delays them. */
const loginConnectionsMax = 4;

export async function openDatabases(env: DatabasesVariables, logger: Logger, scope: Scope): Promise<Databases> {
  const access = databaseAccess(env);
  const { connectionsMax: configurationMax, migratesOnStart } = readDatabasesSettings(env);
  if (migratesOnStart) await migrate(access.databaseUrl, access.databaseTls, migrationList, readRoles(env));
  const openNamed = async (name: string, connectionsMax: number): Promise<Storage> =>
    scope.use(name, await openStorage({ ...access, connectionsMax }), (storage) => storage.close());
  const openPool = (name: string, connectionsMax: number, forceIndexScans: boolean): Pool =>
    scope.use(
      name,
      createVisitorPool({
        ...access,
        connectionsMax,
        name,
        forceIndexScans,
        onIdleError: (error) => logger.warn({ err: error }, 'a connection to PostgreSQL broke'),
      }),
      (pool) => pool.end(),
    );
  const storage = await openNamed('database', configurationMax);
  const logins = await openNamed('logins', loginConnectionsMax);
  const visitors = openPool('sluice control plane', visitorConnectionsMax, false);
  const assignments = openPool('sluice assignments', assignmentConnectionsMax, true);
  const { check } = scope.use('database monitor', monitorDatabase(storage), (monitor) => monitor.stop());
  return {
    access,
    storage,
    logins,
    visitors,
    assignments,
    check,
    figures: {
      configuration: () => storagePoolFigures(storage),
      logins: () => storagePoolFigures(logins),
      visitors: () => poolFigures(visitors),
      assignments: () => poolFigures(assignments),
    },
  };
}
