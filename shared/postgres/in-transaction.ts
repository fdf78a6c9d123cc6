import type { Pool, PoolClient } from 'pg';

type TransactionOptions = {
  /**
   * Whether the commit waits until the writes are on disk; default true. If not, a crash of the server may lose the
   * writes of the last second.
   */
  readonly isFlushed?: boolean;
};

/** Runs `work` in one transaction on one connection; rolls back if it throws. */
export async function inTransaction<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
  { isFlushed = true }: TransactionOptions = {},
): Promise<Result> {
  const client = await pool.connect();
  // Without a listener, a connection that breaks between two statements would end the process. The pool listens only to
  // idle connections; the next statement fails anyway.
  client.on('error', ignore);
  let broken = false;
  try {
    // Not awaited, so that a connection with pipelining sends `begin` together with the first statement of `work`.
    const begun = client.query(isFlushed ? 'begin' : 'begin; set local synchronous_commit = off');
    const [result] = await Promise.all([work(client), begun]);
    await client.query('commit');
    return result;
  } catch (error) {
    // A connection whose rollback fails is closed instead of returned to the pool.
    broken = await client.query('rollback').then(
      () => false,
      () => true,
    );
    throw error;
  } finally {
    client.off('error', ignore);
    client.release(broken);
  }
}

function ignore(): void {}
