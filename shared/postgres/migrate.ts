import { connectFailure } from './database-access.ts';
import type { DatabaseTls } from './database-access.ts';
import { openStorage } from './open-storage.ts';

// Any number, the same for every migrator of this schema.
const migrationLock = 7_305_211;

/**
 * Brings the database's schema up to date. Migrators that run at once wait for each other. A database that cannot be
 * connected to is a DatabaseConnectError, which says why.
 */
export async function migrate(databaseUrl: string, databaseTls?: DatabaseTls): Promise<void> {
  const tls = databaseTls === undefined ? {} : { databaseTls };
  const storage = await openStorage({ databaseUrl, ...tls, connectionsMax: 3 });
  try {
    // The lock lives in this transaction; the migrations run in theirs, on another connection.
    await storage.fork().transactional(async (em) => {
      await em.execute('select pg_advisory_xact_lock(?)', [migrationLock]);
      await storage.orm.getMigrator().up();
    });
  } catch (error) {
    throw connectFailure(error) ?? error;
  } finally {
    await storage.close();
  }
}
