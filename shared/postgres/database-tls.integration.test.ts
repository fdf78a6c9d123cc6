import { chown, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { choosePostgresAccount } from '../embedded/postgres/postgres-account.ts';
import { clusterDirOf } from '../embedded/postgres/postgres-cluster.ts';
import { startPostgresServer } from '../embedded/postgres/postgres-server.ts';
import type { PostgresServer } from '../embedded/postgres/postgres-server.ts';
import { createTestAuthority } from '../testing/certificates.ts';
import type { Certificate, TestAuthority } from '../testing/certificates.ts';
import { createVisitorPool } from '../visitors/visitor-pool.ts';
import { connectFailure } from './database-access.ts';
import type { DatabaseAccess } from './database-access.ts';
import { migrate } from './migrate.ts';
import { openStorage } from './open-storage.ts';

let authority: TestAuthority;
let other: TestAuthority;
let client: Certificate;
let server: PostgresServer;

beforeAll(async () => {
  [authority, other] = await Promise.all([createTestAuthority(), createTestAuthority('another authority')]);
  client = await authority.client('sluice');
  const dataDir = await mkdtemp(join(inject('testRunFolder'), 'postgres-tls-'));
  // The first start, without TLS, creates the folder. From then on the server's account is known, which must own the
  // key file.
  const plain = await startPostgresServer({ dataDir, durable: false });
  await plain.stop();
  server = await startPostgresServer({ dataDir, durable: false, furtherSettings: await tlsSettings(plain.home) });
});

afterAll(() => server?.stop());

async function tlsSettings(home: string): Promise<Record<string, string>> {
  const account = await choosePostgresAccount(clusterDirOf(home));
  const file = async (name: string, text: string): Promise<string> => {
    const path = join(home, name);
    await writeFile(path, text, { mode: 0o600 });
    if (account !== undefined) await chown(path, account.uid, account.gid);
    return path;
  };
  const { cert, key } = await authority.server();
  // The second line admits the embedded server's own sessions, which do not use TLS.
  const access = [
    'hostssl all sluice 127.0.0.1/32 scram-sha-256 clientcert=verify-full',
    'hostnossl all sluice 127.0.0.1/32 scram-sha-256',
  ];
  return {
    // The server's certificate names only the first address.
    listen_addresses: '127.0.0.1,127.0.0.2',
    ssl: 'on',
    ssl_cert_file: await file('server.pem', cert),
    ssl_key_file: await file('server-key.pem', key),
    ssl_ca_file: await file('ca.pem', authority.ca),
    hba_file: await file('hba.conf', `${access.join('\n')}\n`),
  };
}

const withTls = (own: Certificate | undefined, ca = authority.ca): DatabaseAccess => ({
  databaseUrl: server.url,
  databaseTls: { verify: 'name', ca, ...own },
});

/** Whether a connection of the pipeline's pool is encrypted. */
async function askPool(access: DatabaseAccess): Promise<boolean | undefined> {
  const pool = createVisitorPool({ ...access, connectionsMax: 1, name: 'test', onIdleError: () => undefined });
  try {
    const { rows } = await pool.query<{ ssl: boolean }>('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
    return rows[0]?.ssl;
  } catch (error) {
    throw connectFailure(error) ?? error;
  } finally {
    await pool.end();
  }
}

async function askStorage(access: DatabaseAccess): Promise<boolean | undefined> {
  const storage = await openStorage({ ...access, connectionsMax: 1 });
  try {
    const rows = await storage
      .fork()
      .execute<{ ssl: boolean }[]>('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
    return rows[0]?.ssl;
  } catch (error) {
    throw connectFailure(error) ?? error;
  } finally {
    await storage.close();
  }
}

test('database: the pool and the ORM connect encrypted, with a client certificate', async () => {
  expect(await askPool(withTls(client))).toBe(true);
  expect(await askStorage(withTls(client))).toBe(true);
  expect(await askPool({ databaseUrl: server.url, databaseTls: { verify: 'nothing', ...client } })).toBe(true);
  expect(await askPool({ databaseUrl: server.url })).toBe(false);
});

test('database: the schema is brought up to date over TLS', async () => {
  const databaseUrl = await server.createDatabase('migrated');
  const { databaseTls } = withTls(client);
  await expect(migrate(databaseUrl, databaseTls)).resolves.toEqual([]);
});

test('database: a server signed by another authority is refused', async () => {
  for (const ask of [askPool, askStorage]) {
    await expect(ask(withTls(client, other.ca))).rejects.toThrow(/not signed by an authority in DATABASE_CA/);
  }
});

test('database: a certificate for another name is refused, unless only its signature is verified', async () => {
  const databaseUrl = server.url.replace('127.0.0.1', '127.0.0.2');
  const tls = { ca: authority.ca, ...client };
  for (const ask of [askPool, askStorage]) {
    await expect(ask({ databaseUrl, databaseTls: { ...tls, verify: 'name' } })).rejects.toThrow(/for another name/);
    expect(await ask({ databaseUrl, databaseTls: { ...tls, verify: 'signature' } })).toBe(true);
  }
});

test('database: without a certificate that the server trusts, the error names the variables to check', async () => {
  for (const ask of [askPool, askStorage]) {
    await expect(ask(withTls(undefined))).rejects.toThrow(/refuses the login: check .*DATABASE_CERT.*client certif/);
    // The server refuses the certificate after the handshake, so the connection may end before the reason is read.
    const stranger = await other.client('sluice');
    await expect(ask(withTls(stranger))).rejects.toThrow(/check DATABASE_CERT|ECONN|EPIPE|terminated|disconnected/);
    const namesake = await authority.client('another');
    await expect(ask(withTls(namesake))).rejects.toThrow(/refuses the login/);
  }
});

test('database: the error for a wrong password names the variables to check and does not contain the password', async () => {
  const url = new URL(server.url);
  url.password = 'wrong-one';
  const wrong = { ...withTls(client), databaseUrl: url.href };
  for (const ask of [
    askPool,
    askStorage,
    (access: DatabaseAccess) => migrate(access.databaseUrl, access.databaseTls),
  ]) {
    const failure = await ask(wrong).catch((error: unknown) => error);
    expect(String(failure)).toMatch(/refuses the login: check DATABASE_URL, DATABASE_USER, DATABASE_PASSWORD/);
    expect(String(failure)).not.toContain('wrong-one');
  }
});
