import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, inject, test } from 'vitest';
import type { NatsServer } from '../../embedded/nats/nats-server.ts';
import { createTestAuthority } from '../../testing/certificates.ts';
import type { Certificate, TestAuthority } from '../../testing/certificates.ts';
import { startTestNats } from '../../testing/servers.ts';
import { client as logClient } from './client.ts';
import { connectLog } from './connection.ts';
import type { LogAccess } from './log-access.ts';

let authority: TestAuthority;
let other: TestAuthority;
let client: Certificate;
let folder: string;
const servers: NatsServer[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(inject('testRunFolder'), 'tls-'));
  [authority, other] = await Promise.all([createTestAuthority(), createTestAuthority('another authority')]);
  client = await authority.client('gateway');
});

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function startTlsNats(certificate: Certificate, verify: boolean): Promise<string> {
  const file = async (name: string, text: string): Promise<string> => {
    const path = join(folder, `${servers.length}-${name}`);
    await writeFile(path, text, { mode: 0o600 });
    return JSON.stringify(path);
  };
  const lines = [
    'tls {',
    `  cert_file: ${await file('cert.pem', certificate.cert)}`,
    `  key_file: ${await file('key.pem', certificate.key)}`,
    `  ca_file: ${await file('ca.pem', authority.ca)}`,
    `  verify: ${verify}`,
    '}',
  ];
  return startWith(lines.join('\n'));
}

async function startWith(furtherConfig: string): Promise<string> {
  const server = await startTestNats({ furtherConfig });
  servers.push(server);
  return server.url;
}

/** Connects and sends a request to JetStream; returns whether the connection is up. */
async function reaches(access: LogAccess, connectTimeoutMs = 30_000): Promise<boolean> {
  const connection = await connectLog({ ...access, name: 'test', connectTimeoutMs });
  try {
    await connection[logClient].jsm.getAccountInfo();
    return connection.connected;
  } finally {
    await connection.close();
  }
}

test('tls: the server is reached with its CA file and a valid client certificate, and not without the certificate', async () => {
  const url = await startTlsNats(await authority.server(), true);
  expect(await reaches({ url, tls: { ca: authority.ca, ...client } })).toBe(true);
  const stranger = await other.client('gateway');
  for (const own of [{}, stranger]) {
    // The server refuses the certificate after the handshake, so the first attempt ends at its deadline, which is short
    // here.
    const attempt = reaches({ url, tls: { ca: authority.ca, ...own } }, 500);
    await expect(attempt).rejects.toThrow(/does not accept the client certificate.*NATS_CERT/);
  }
});

test('tls: a server signed by another authority is refused', async () => {
  const url = await startTlsNats(await authority.server(), false);
  expect(await reaches({ url, tls: { ca: authority.ca } })).toBe(true);
  await expect(reaches({ url, tls: { ca: other.ca } })).rejects.toThrow(/not signed by an authority in NATS_CA/);
  await expect(reaches({ url: url.replace('nats://', 'tls://') })).rejects.toThrow(/not signed by an authority/);
});

test('tls: a server whose certificate has expired is refused', async () => {
  const url = await startTlsNats(await authority.expiredServer(), false);
  await expect(reaches({ url, tls: { ca: authority.ca } })).rejects.toThrow(/certificate of the server has expired/);
});

test('tls: a server without TLS is refused if TLS is required', async () => {
  const url = await startWith('');
  expect(await reaches({ url })).toBe(true);
  await expect(reaches({ url, tls: { ca: authority.ca } })).rejects.toThrow(/the server does not support it/);
  await expect(reaches({ url: url.replace('nats://', 'tls://') })).rejects.toThrow(/the server does not support it/);
});

test('tls: an invalid certificate is reported with its variable', async () => {
  const url = await startTlsNats(await authority.server(), true);
  const broken = { cert: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', key: client.key };
  await expect(reaches({ url, tls: { ca: authority.ca, ...broken } })).rejects.toThrow(/NATS_KEY cannot be used/);
});

test('login: user and password are accepted, as variables and in the URL, and wrong ones are refused', async () => {
  const url = await startWith('authorization { user: "sluice", password: "p@ss:word" }');
  const login = (password: string): LogAccess => ({ url, login: { kind: 'password', user: 'sluice', password } });
  expect(await reaches(login('p@ss:word'))).toBe(true);
  const inAddress = (pair: string): LogAccess => ({ url: url.replace('nats://', `nats://${pair}@`) });
  expect(await reaches(inAddress(`sluice:${encodeURIComponent('p@ss:word')}`))).toBe(true);
  for (const wrong of [login('other'), inAddress('sluice:other'), { url }]) {
    const failure = await reaches(wrong).catch((error: unknown) => error);
    expect(String(failure)).toMatch(/refuses the login: check NATS_USER and NATS_PASSWORD/);
    expect(String(failure)).not.toContain('other');
  }
});

test('login: a token is accepted, as a variable and in the URL, and a wrong token is refused', async () => {
  const url = await startWith('authorization { token: "t0ken" }');
  expect(await reaches({ url, login: { kind: 'token', token: 't0ken' } })).toBe(true);
  expect(await reaches({ url: url.replace('nats://', 'nats://t0ken@') })).toBe(true);
  await expect(reaches({ url, login: { kind: 'token', token: 'no' } })).rejects.toThrow(/refuses the login/);
});

test('login: an nkey is accepted', async () => {
  const seed = 'SUACGQSSIUTOEG7G65RWBD4ICO6JUCRANF3IMUCCT2AEIXIWSQATRVOOKQ';
  const url = await startWith(
    'authorization { users: [ { nkey: "UCZLYL2AHDA6P2DSBRHF2UBQEREBS5BEE235TCVLZ7WGRWBP72HN3DIC" } ] }',
  );
  await expect(reaches({ url, login: { kind: 'nkey', seed } })).resolves.toBe(true);
});
