import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { connectFailure, sslOptions } from './database-access.ts';
import type { DatabaseAccess, DatabaseTimeouts, DatabaseTls } from './database-access.ts';
import { migrationList } from './migrations/migration-list.ts';
import type { MigrationList } from './migrations/migration-list.ts';
import { openStorage } from './open-storage.ts';
import { grantRoles } from './roles/grant-roles.ts';
import type { RoleLogin } from './roles/grant-roles.ts';

// Any number, the same for every migrator of this schema.
const migrationLock = 7_305_211;
/** How often a migrator polls while it waits for another migrator, in ms. */
const askEveryMs = 500;
/** No timeouts, because a change of a large table may take hours. */
const untimed: DatabaseTimeouts = { statementMs: 0, lockMs: 0, idleInTransactionMs: 0 };

/**
 * Brings the database's schema up to date and grants `roles` the rights of their services. Each migration runs without
 * timeouts, in a transaction of its own unless it is declared not transactional. Concurrent migrators wait for each
 * other. Returns the names of the roles that received rights. Throws DatabaseConnectError for a failed connection and
 * RoleError for a role that cannot be created or granted rights; both messages give the reason.
 */
export async function migrate(
  databaseUrl: string,
  databaseTls?: DatabaseTls,
  migrations: MigrationList = migrationList,
  roles: readonly RoleLogin[] = [],
): Promise<readonly string[]> {
  const access = { databaseUrl, databaseTimeouts: untimed, ...(databaseTls === undefined ? {} : { databaseTls }) };
  try {
    return await aloneAmongMigrators(access, async (client) => {
      await applyAll(access, migrations);
      return grantRoles(client, roles);
    });
  } catch (error) {
    throw connectFailure(error) ?? error;
  }
}

async function applyAll(access: DatabaseAccess, migrations: MigrationList): Promise<void> {
  const storage = await openStorage({ ...access, connectionsMax: 3, migrations });
  try {
    const migrator = storage.orm.getMigrator();
    // One at a time: the locks of a migration are released before the next one begins.
    for (const { name } of await migrator.getPendingMigrations()) await migrator.up({ migrations: [name] });
  } finally {
    await storage.close();
  }
}

/**
 * Runs `work` while its session holds the migrators' lock. Polls for the lock: a statement that waits for it would keep
 * a transaction open, and deadlock with a migrator that creates an index concurrently, which waits for open
 * transactions.
 */
async function aloneAmongMigrators<Result>(
  access: DatabaseAccess,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({
    connectionString: access.databaseUrl,
    ssl: sslOptions(access.databaseTls),
    application_name: 'sluice migration lock',
    keepAlive: true,
  });
  // Without a listener, a connection that breaks would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    while (!(await isLocked(client))) await pause(askEveryMs);
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function isLocked(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ won: boolean }>('select pg_try_advisory_lock($1) as won', [migrationLock]);
  return rows[0]?.won === true;
}
