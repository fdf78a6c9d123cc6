import { Client, DatabaseError } from 'pg';

import { EmbeddedServerError } from '../machine/embedded-server-error.ts';

/** Where a server of ours listens, and its superuser. */
export interface DatabaseAddress {
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

const CONNECT_TIMEOUT_MS = 5_000;
const QUERY_TIMEOUT_MS = 60_000;
const DUPLICATE_DATABASE = '42P04';
const WRONG_PASSWORD = '28P01';

/** Whether a session can be opened. A refused password is an error, since waiting does not mend it. */
export async function isAccepting(address: DatabaseAddress): Promise<boolean> {
  try {
    await withSession(address, async () => undefined);
    return true;
  } catch (error) {
    if (error instanceof DatabaseError && error.code === WRONG_PASSWORD) {
      throw new EmbeddedServerError(
        'start_failed',
        'PostgreSQL refuses the password kept beside its data; the password file is not the one these data were made with',
        error,
      );
    }
    return false;
  }
}

/** Makes the database unless it exists, and returns its url. */
export async function ensureDatabase(address: DatabaseAddress, name: string): Promise<string> {
  try {
    await withSession(address, (client) => client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`));
  } catch (error) {
    if (!(error instanceof DatabaseError && error.code === DUPLICATE_DATABASE)) {
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
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
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
