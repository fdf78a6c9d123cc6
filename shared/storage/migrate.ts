import { openStorage } from './open-storage.ts';

// Any number, the same for every migrator of this schema.
const migrationLock = 7_305_211;

/** Brings the database's schema up to date. Migrators that run at once wait for each other. */
export async function migrate(databaseUrl: string): Promise<void> {
  const storage = await openStorage({ databaseUrl, connectionsMax: 3 });
  try {
    // The lock lives in this transaction; the migrations run in theirs, on another connection.
    await storage.fork().transactional(async (em) => {
      await em.execute('select pg_advisory_xact_lock(?)', [migrationLock]);
      await storage.orm.getMigrator().up();
    });
  } finally {
    await storage.close();
  }
}
