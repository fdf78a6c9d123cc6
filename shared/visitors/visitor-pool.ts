import pg from 'pg';
import type { ClientBase, Pool } from 'pg';
import { databaseTimeoutDefaults, sslOptions, timeoutOptions } from '../postgres/database-access.ts';
import type { DatabaseAccess } from '../postgres/database-access.ts';
import { forceIndexScans } from '../postgres/force-index-scans.ts';
import { assertWritable } from '../postgres/writable-session.ts';

export type VisitorPoolOptions = DatabaseAccess & {
  /** Maximum number of connections. A batch of visitors uses one connection. */
  readonly connectionsMax: number;
  /** Shown in the server's list of connections. */
  readonly name: string;
  /** For a pool whose statements all look up by key: prevents PostgreSQL from planning scans of whole tables. */
  readonly forceIndexScans?: boolean;
  /** An idle connection broke; the pool replaces it. */
  onIdleError(error: Error): void;
};

/** Time for a server to report that it ended a statement, in ms. */
const answerMs = 5_000;

/** A pool of connections to a PostgreSQL server that accepts writes; every statement has a deadline. */
export function createVisitorPool(options: VisitorPoolOptions): Pool {
  const timeouts = options.databaseTimeouts ?? databaseTimeoutDefaults;
  const pool = new pg.Pool({
    connectionString: options.databaseUrl,
    ssl: sslOptions(options.databaseTls),
    application_name: options.name,
    max: options.connectionsMax,
    connectionTimeoutMillis: 5_000,
    // The server cancels a statement first; the client's deadline is for a server that does not answer.
    ...timeoutOptions(timeouts),
    query_timeout: timeouts.statementMs + answerMs,
    keepAlive: true,
    // Independent statements are sent together and cost one round trip.
    pipeline: true,
    verify: (client: ClientBase, done: (error?: Error) => void) => {
      setUpSession(client, options.forceIndexScans === true).then(() => done(), done);
    },
  });
  pool.on('error', options.onIdleError);
  // The pool listens for errors of idle connections only. A connection that breaks during hand-over emits an error,
  // which without a listener would end the process; the next statement fails anyway.
  pool.on('connect', (client) => client.on('error', ignore));
  return pool;
}

/** The pool hands out a new connection only after this returns. */
async function setUpSession(client: ClientBase, isForcedToIndexScans: boolean): Promise<void> {
  await assertWritable(client);
  if (isForcedToIndexScans) await forceIndexScans(client);
}

function ignore(): void {}
