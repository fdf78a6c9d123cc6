import pg from 'pg';
import { sslOptions } from './database-access.ts';
import type { DatabaseAccess } from './database-access.ts';

const timeoutMs = 2_000;

/** The id of the database's deployment; undefined while the database is unavailable or not yet migrated. */
export async function readDeploymentId({ databaseUrl, databaseTls }: DatabaseAccess): Promise<string | undefined> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    ssl: sslOptions(databaseTls),
    application_name: 'sluice deployment',
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ id: string }>('select id from deployment');
    return rows[0]?.id;
  } catch {
    return undefined;
  } finally {
    await client.end().catch(() => undefined);
  }
}

export type DeploymentIdWatch = { stop(): void };

/** Polls every `everyMs` until the database has the deployment's id, then calls `onKnown` once. */
export function awaitDeploymentId(
  access: DatabaseAccess,
  everyMs: number,
  onKnown: (id: string) => void,
): DeploymentIdWatch {
  const state = { isStopped: false };
  let timer: NodeJS.Timeout | undefined;
  const ask = async (): Promise<void> => {
    const id = await readDeploymentId(access);
    if (state.isStopped) return;
    if (id === undefined) timer = setTimeout(() => void ask(), everyMs);
    else onKnown(id);
  };
  timer = setTimeout(() => void ask(), everyMs);
  return {
    stop() {
      state.isStopped = true;
      clearTimeout(timer);
    },
  };
}
