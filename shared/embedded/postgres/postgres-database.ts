import { Client, DatabaseError } from 'pg';

import { EmbeddedServerError } from '../machine/embedded-server-error.ts';

/** Port and superuser of an embedded server. */
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

/** Whether a session can be opened. Throws EmbeddedServerError for a refused password, since waiting does not help. */
export async function isAccepting(address: DatabaseAddress): Promise<boolean> {
  try {
    await withSession(address, async () => undefined);
    return true;
  } catch (error) {
    if (error instanceof DatabaseError && error.code === wrongPassword) {
      throw new EmbeddedServerError(
        'start_failed',
        'PostgreSQL refuses the password kept beside its data; the password file does not belong to this data',
        error,
      );
    }
    return false;
  }
}

/**
 * Creates the database if it does not exist, as a copy of `template` if given, and returns its url. On a standby
 * nothing is created, since the database comes from the primary.
 */
export async function ensureDatabase(address: DatabaseAddress, name: string, template?: string): Promise<string> {
  try {
    await withSession(address, (client) => {
      const copied = template === undefined ? '' : ` TEMPLATE ${client.escapeIdentifier(template)}`;
      return client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}${copied}`);
    });
  } catch (error) {
    const isThereOrComes =
      error instanceof DatabaseError && [duplicateDatabase, readOnlyServer].includes(error.code ?? '');
    if (!isThereOrComes) {
      throw error;
    }
  }
  return databaseUrl(address, name);
}

/** Makes a database a template: it refuses connections, so that nothing in it changes between two copies. */
export async function makeTemplate(address: DatabaseAddress, name: string): Promise<void> {
  await withSession(address, (client) =>
    client.query(`ALTER DATABASE ${client.escapeIdentifier(name)} ALLOW_CONNECTIONS false`),
  );
}

/** `postgresql://user:password@127.0.0.1:port/name` */
export function databaseUrl({ port, user, password }: DatabaseAddress, name: string): string {
  return `postgresql://${encodeURIComponent(user)}:${encodeURIComponent(password)}@127.0.0.1:${port}/${encodeURIComponent(name)}`;
}

/** The address in a url that `databaseUrl` returned. */
export function databaseAddress(url: string): DatabaseAddress {
  const { port, username, password } = new URL(url);
  return { port: Number(port), user: decodeURIComponent(username), password: decodeURIComponent(password) };
}

async function withSession(address: DatabaseAddress, work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({
    connectionString: databaseUrl(address, 'postgres'),
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs,
  });
  // Without a listener, a session that the server ends during the close would end this process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

/** Removes the database, if it exists, and ends its sessions. */
export async function dropDatabase(address: DatabaseAddress, name: string): Promise<void> {
  await withSession(address, (client) =>
    client.query(`DROP DATABASE IF EXISTS ${client.escapeIdentifier(name)} WITH (FORCE)`),
  );
}

/** Removes the given roles if they exist. They must not have rights in any database. */
export async function dropRoles(address: DatabaseAddress, names: readonly string[]): Promise<void> {
  await withSession(address, async (client) => {
    for (const name of names) await client.query(`DROP ROLE IF EXISTS ${client.escapeIdentifier(name)}`);
  });
}
