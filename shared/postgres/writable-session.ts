import type { ClientBase } from 'pg';

/** The server takes no writes: a standby that is not promoted, or one that is set to be read only. */
export class ReadOnlyServerError extends Error {
  /** PostgreSQL's own for a write there, read_only_sql_transaction: whoever knows that one knows this. */
  readonly code = '25006';

  constructor() {
    super('the server at DATABASE_URL takes no writes: it is a standby, or set to be read only');
  }
}

/**
 * Throws ReadOnlyServerError where a new session could not write. After a failover an address may lead to the wrong
 * server for a while, and a pool that kept such a session would be refused every write long after all was well. What
 * `target_session_attrs=read-write` is to PostgreSQL's own client library.
 */
export async function assertWritable(client: Pick<ClientBase, 'query'>): Promise<void> {
  const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
  if (rows[0]?.transaction_read_only === 'on') throw new ReadOnlyServerError();
}
