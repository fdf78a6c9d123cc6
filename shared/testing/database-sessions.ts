import type { Client, Pool } from 'pg';

// PostgreSQL lists the sessions and locks of all databases of its server, which the test files of a run share. These
// functions count only sessions and locks of the database to which `db` is connected.

/**
 * Number of client sessions other than the connection's own; with a prefix, only sessions whose application name has
 * it.
 */
export async function countOtherSessions(db: Client | Pool, namePrefix?: string): Promise<number> {
  const { rowCount } = await db.query(
    `select 1 from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
        and ($1::text is null or starts_with(application_name, $1))`,
    [namePrefix ?? null],
  );
  return rowCount ?? 0;
}

/** Number of transactions that wait for an advisory lock. */
export async function countWaitingForLocks(db: Client | Pool): Promise<number> {
  const { rowCount } = await db.query(
    `select 1 from pg_locks l join pg_database d on d.oid = l.database
      where l.locktype = 'advisory' and not l.granted and d.datname = current_database()`,
  );
  return rowCount ?? 0;
}
