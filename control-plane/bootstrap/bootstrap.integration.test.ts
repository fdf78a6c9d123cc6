import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { AccountConfig } from '../../shared/contracts/config/account-config.ts';
import { hashSourceKey } from '../../shared/contracts/config/account-config.ts';
import { Account, AuditEntry } from '../../shared/postgres/entities.ts';
import { migrate } from '../../shared/postgres/migrate.ts';
import { openStorage } from '../../shared/postgres/open-storage.ts';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import { createSecretBox } from '../../shared/contracts/config/secrets.ts';
import { createTestDatabase } from '../../shared/testing/servers.ts';
import type { TestDatabase } from '../../shared/testing/servers.ts';
import { patchDestination } from '../destinations/edit-destinations.ts';
import { authenticate } from '../keys/authenticate.ts';
import { readAccountDocument } from '../publishing/account-document.ts';
import { defaultsOf } from '../../shared/runtime/env.ts';
import { accountLimitsEnv, readAccountLimits } from '../store/account-limits.ts';
import { bootstrap } from './bootstrap.ts';
import type { Credentials } from './credentials-file.ts';

const secretBox = createSecretBox(Buffer.alloc(32, 7).toString('base64'));
let folder: string;
let file: string;
let database: TestDatabase;
let storage: Storage;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-bootstrap-'));
});
beforeEach(async () => {
  await storage?.close();
  await database?.drop();
  database = await createTestDatabase();
  await migrate(database.url);
  storage = await openStorage({ databaseUrl: database.url, connectionsMax: 4 });
  file = join(folder, `${Math.random()}`, 'credentials.json');
});
afterAll(async () => {
  await storage.close();
  await database.drop();
  await rm(folder, { recursive: true });
});

const limits = readAccountLimits(defaultsOf(accountLimitsEnv));
const run = (sinkUrl = 'http://127.0.0.1:8090') =>
  bootstrap({ storage, secretBox, limits, file, sinkUrl, now: () => new Date() });
const credentials = async (): Promise<Credentials> => JSON.parse(await readFile(file, 'utf8')) as Credentials;
const live = async (): Promise<AccountConfig> => {
  const [account] = await storage.fork().find(Account, {});
  const document = await readAccountDocument(storage.fork(), account?.id ?? '');
  if (document === undefined) throw new Error('nothing is live');
  return document;
};
const liveUrl = async (): Promise<unknown> => {
  const settings = (await live()).collections['destinations']?.[0]?.['settings'] as
    | { httpDestinationUrl: string }
    | undefined;
  return settings?.httpDestinationUrl;
};

test('bootstrap: an empty database gets an account, keys, a source and a destination, published as version 1', async () => {
  expect(await run()).toBe('created');
  const made = await credentials();
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const principal = await authenticate(storage.fork(), `Bearer ${made.apiKey}`, new Date());
  expect(principal?.scopes).toEqual(['all', 'system:find']);
  const document = await live();
  expect(document.versionNumber).toBe(1);
  expect(document.collections.sources).toMatchObject([
    { id: made.sourceId, type: 'NodejsApi', status: 'Enabled' },
    { type: 'WebSource', status: 'Enabled' },
  ]);
  expect(document.collections.destinations).toMatchObject([{ id: made.destinationId, type: 'HTTPDestination' }]);
  expect(await liveUrl()).toBe('http://127.0.0.1:8090/demo');
  const hashes = [made.sourceToken, made.testToken, made.webToken].map((token) => hashSourceKey(token ?? ''));
  const published = document.sourceKeys.map(({ keyHash }) => keyHash);
  expect(published).toHaveLength(4);
  expect(published).toEqual(expect.arrayContaining(hashes));
});

test('bootstrap: a second start changes nothing, and keeps what was added to the file', async () => {
  await run();
  const more = { ...(await credentials()), gateway: 'http://127.0.0.1:8080' };
  await writeFile(file, JSON.stringify(more));
  expect(await run()).toBe('unchanged');
  expect(await credentials()).toEqual(more);
  expect((await live()).versionNumber).toBe(1);
});

test('bootstrap: if a crash prevented the file, the next start writes the file with the same source keys', async () => {
  await run();
  const before = await credentials();
  await rm(file);
  expect(await run()).toBe('file-rewritten');
  const { apiKey, ...after } = await credentials();
  expect(after).toEqual({
    sourceToken: before.sourceToken,
    testToken: before.testToken,
    webToken: before.webToken,
    sourceId: before.sourceId,
    destinationId: before.destinationId,
  });
  expect(await authenticate(storage.fork(), `Bearer ${apiKey}`, new Date())).toBeDefined();
  // The audit records the creation of these keys by `bootstrap`, because no key or user created them.
  const made = await storage.fork().find(AuditEntry, { action: 'key.create' }, { orderBy: { id: 'asc' } });
  expect(made.map(({ actorName, details }) => [actorName, details])).toEqual([
    ['bootstrap', { scopes: ['all', 'system:find'] }],
    ['bootstrap (reissued)', { scopes: ['all', 'system:find'] }],
  ]);
});

test('bootstrap: simultaneous starts make one account', async () => {
  await Promise.all([run(), run(), run()]);
  expect(await storage.fork().count(Account, {})).toBe(1);
  const principal = await authenticate(storage.fork(), `Bearer ${(await credentials()).apiKey}`, new Date());
  expect(principal).toBeDefined();
});

test('bootstrap: a changed sink address is published, without anything else of the draft', async () => {
  await run();
  const { destinationId = '' } = await credentials();
  const [account] = await storage.fork().find(Account, {});
  const principal = {
    accountId: account?.id ?? '',
    kind: 'key' as const,
    id: 'k',
    name: 'k',
    scopes: ['all'],
    expiresAt: null,
  };
  await storage.fork().transactional(async (em) => {
    await patchDestination({ em, principal, now: new Date(), limits }, secretBox, destinationId, {
      name: 'draft only',
    });
  });
  await run('http://127.0.0.1:8099/');
  expect(await liveUrl()).toBe('http://127.0.0.1:8099/demo');
  const document = await live();
  expect(document.versionNumber).toBe(2);
  expect(document.collections['destinations']?.[0]?.['name']).toBe('Demo sink');
});

test('bootstrap: a demo destination that was pointed elsewhere keeps its new address', async () => {
  await run();
  const { destinationId = '' } = await credentials();
  const [account] = await storage.fork().find(Account, {});
  const principal = {
    accountId: account?.id ?? '',
    kind: 'key' as const,
    id: 'k',
    name: 'k',
    scopes: ['all'],
    expiresAt: null,
  };
  const settings = { httpDestinationUrl: 'https://example.com/events' };
  await storage.fork().transactional(async (em) => {
    await patchDestination({ em, principal, now: new Date(), limits }, secretBox, destinationId, { settings });
  });
  await run('http://127.0.0.1:8099');
  expect((await live()).versionNumber).toBe(1);
});
