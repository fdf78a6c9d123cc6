import pg from 'pg';
import { databaseAccess, sslOptions } from '../../../shared/postgres/database-access.ts';
import type { DatabaseVariables } from '../../../shared/postgres/database-access.ts';

/**
 * Queries PostgreSQL over a separate connection, which is closed afterwards. `timeoutMs` limits connecting and each
 * statement.
 */
export async function askDatabase<Answer>(
  env: DatabaseVariables,
  timeoutMs: number,
  ask: (client: pg.Client) => Promise<Answer>,
): Promise<Answer> {
  const { databaseUrl, databaseTls } = databaseAccess(env);
  const client = new pg.Client({
    connectionString: databaseUrl,
    ssl: sslOptions(databaseTls),
    application_name: 'sluice doctor',
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  // A broken connection fails the current query; without a listener it would end this process too.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await ask(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
