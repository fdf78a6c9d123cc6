import pg from 'pg';
import { databaseAccess, sslOptions } from '../../../shared/postgres/database-access.ts';
import type { DatabaseVariables } from '../../../shared/postgres/database-access.ts';

/** Asks PostgreSQL over a connection of its own, which ends with the answer. `timeoutMs` is what connecting and each statement may take. */
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
  // A connection that breaks fails the query under way; without a listener it would end this process as well.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await ask(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}
