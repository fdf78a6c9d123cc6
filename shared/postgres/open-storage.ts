import { MikroORM } from '@mikro-orm/postgresql';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Migrator } from '@mikro-orm/migrations';
import type { Client } from 'pg';
import { sslOptions, timeoutOptions } from './database-access.ts';
import type { DatabaseAccess } from './database-access.ts';
import { Account, ApiKey, AuditEntry, ConfigEntity, OutboxRow, SourceKey, User, Version } from './entities.ts';
import { migrationList } from './migrations/migration-list.ts';
import type { MigrationList } from './migrations/migration-list.ts';
import { assertWritable } from './writable-session.ts';

export type Storage = {
  readonly orm: MikroORM;
  /** A separate unit of work, whose changes are invisible to others until it is flushed. */
  fork(): EntityManager;
  close(): Promise<void>;
};

export type StorageOptions = DatabaseAccess & {
  /** Maximum number of connections. Default 10. */
  readonly connectionsMax?: number;
  /** Migrations that `migrate` applies. Default `migrationList`. */
  readonly migrations?: MigrationList;
};

/** How long a query waits for a connection of the pool. */
const acquireTimeoutMs = 10_000;
/** Interval of the search for unneeded connections, in ms; the default, 1 s, would wake up an idle process. */
const reapEveryMs = 10_000;
const quiet = (): void => undefined;
// By default the query builder writes to stdout when a connection ends; the failed statement reports that anyway.
const silent = { warn: quiet, error: quiet, deprecate: quiet, debug: quiet };

/** Opens PostgreSQL through MikroORM. No connection is made before the first query. */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const orm = await MikroORM.init({
    clientUrl: options.databaseUrl,
    entities: [Account, ApiKey, AuditEntry, ConfigEntity, OutboxRow, SourceKey, User, Version],
    extensions: [Migrator],
    discovery: { disableDynamicFileAccess: true, checkDuplicateTableNames: true },
    connect: false,
    pool: {
      min: 0,
      max: options.connectionsMax ?? 10,
      acquireTimeoutMillis: acquireTimeoutMs,
      reapIntervalMillis: reapEveryMs,
      afterCreate: refuseReadOnly,
    },
    driverOptions: {
      connection: {
        ...timeoutOptions(options.databaseTimeouts),
        application_name: 'sluice',
        ssl: sslOptions(options.databaseTls),
        keepAlive: true,
      },
      log: silent,
      // Otherwise an error's message would repeat the values of the query.
      compileSqlOnError: false,
    },
    migrations: {
      migrationsList: [...(options.migrations ?? migrationList)],
      tableName: 'migrations',
      snapshot: false,
      silent: true,
    },
  });
  return { orm, fork: () => orm.em.fork(), close: () => orm.close(true) };
}

/** Runs before the pool owns a new connection, and therefore has to close a connection that it refuses. */
function refuseReadOnly(client: Client, done: (error?: unknown) => void): void {
  assertWritable(client).then(
    () => done(),
    async (error: unknown) => {
      await client.end().catch(quiet);
      done(error);
    },
  );
}
