import type { ClientBase } from 'pg';

/** The server accepts no writes: a standby that is not promoted, or a read-only server. */
export class ReadOnlyServerError extends Error {
  /**
   * The code of PostgreSQL's own error for a write on such a server, read_only_sql_transaction: callers treat both
   * alike.
   */
  readonly code = '25006';

  constructor() {
    super('the server at DATABASE_URL accepts no writes: it is a standby, or set to read-only');
  }
}

/**
 * Throws ReadOnlyServerError if a new session cannot write. After a failover an address may lead to the wrong server
 * for a while, and a pool that kept a session with that server would fail writes long after recovery. The equivalent of
 * `target_session_attrs=read-write` in PostgreSQL's own client library.
 */
export async function assertWritable(client: Pick<ClientBase, 'query'>): Promise<void> {
  const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
  if (rows[0]?.transaction_read_only === 'on') throw new ReadOnlyServerError();
}
