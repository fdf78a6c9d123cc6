import type { Pool, PoolClient } from 'pg';

type TransactionOptions = {
  /** Whether its writes are on disk when it ends. Without it a crash of the server may lose the last second's writes. */
  readonly isFlushed?: boolean;
};

/** Does the work in one transaction on one connection: all of it is kept, or, when it throws, nothing. */
export async function inTransaction<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
  { isFlushed = true }: TransactionOptions = {},
): Promise<Result> {
  const client = await pool.connect();
  // A connection that breaks between two statements emits an event, which would end the process without a listener; the
  // next statement fails anyway. The pool listens only while it holds the connection itself.
  client.on('error', ignore);
  let broken = false;
  try {
    // Not waited for: a connection that pipelines sends it with the first statement of the work.
    const begun = client.query(isFlushed ? 'begin' : 'begin; set local synchronous_commit = off');
    const [result] = await Promise.all([work(client), begun]);
    await client.query('commit');
    return result;
  } catch (error) {
    // A connection whose rollback fails is thrown away rather than handed to the next caller.
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
