import { Client, DatabaseError } from 'pg';

import { EmbeddedServerError } from '../machine/embedded-server-error.ts';

/** Where a server of ours listens, and its superuser. */
export type DatabaseAddress = {
  readonly port: number;
  readonly user: string;
  readonly password: string;
};

const connectTimeoutMs = 5_000;
const queryTimeoutMs = 60_000;
const duplicateDatabase = '42P04';
const readOnlyServer = '25006';
const wrongPassword = '28P01';

/** Whether a session can be opened. A refused password is an error, since waiting does not fix it. */
export async function isAccepting(address: DatabaseAddress): Promise<boolean> {
  try {
    await withSession(address, async () => undefined);
    return true;
  } catch (error) {
    if (error instanceof DatabaseError && error.code === wrongPassword) {
      throw new EmbeddedServerError(
        'start_failed',
        'PostgreSQL refuses the password kept beside its data; the password file is not the one these data were made with',
        error,
      );
    }
    return false;
  }
}

/** Makes the database unless it exists, or the server is a standby and has what its primary has; returns its url. */
export async function ensureDatabase(address: DatabaseAddress, name: string): Promise<string> {
  try {
    await withSession(address, (client) => client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`));
  } catch (error) {
    const isThereOrComes =
      error instanceof DatabaseError && [duplicateDatabase, readOnlyServer].includes(error.code ?? '');
    if (!isThereOrComes) {
      throw error;
    }
  }
  return databaseUrl(address, name);
}

/** `postgresql://user:password@127.0.0.1:port/name` */
export function databaseUrl({ port, user, password }: DatabaseAddress, name: string): string {
  return `postgresql://${encodeURIComponent(user)}:${encodeURIComponent(password)}@127.0.0.1:${port}/${encodeURIComponent(name)}`;
}

async function withSession(address: DatabaseAddress, work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({
    connectionString: databaseUrl(address, 'postgres'),
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs,
  });
  // A session the server ends while we are closing it is no news; without a listener it would end this process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

/** Removes the database if it is there, ending its sessions. */
export async function dropDatabase(address: DatabaseAddress, name: string): Promise<void> {
  await withSession(address, (client) =>
    client.query(`DROP DATABASE IF EXISTS ${client.escapeIdentifier(name)} WITH (FORCE)`),
  );
}

/** Removes the roles that are there, which may have rights in no database any more. */
export async function dropRoles(address: DatabaseAddress, names: readonly string[]): Promise<void> {
  await withSession(address, async (client) => {
    for (const name of names) await client.query(`DROP ROLE IF EXISTS ${client.escapeIdentifier(name)}`);
  });
}
