import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  SecretError,
  accessTokenContext,
  createSecretBox,
  createSourceSecretBox,
  isSealed,
  sealedBy,
  settingContext,
  signingSecretContext,
} from '../../shared/contracts/config/secrets.ts';
import { startScriptedDestination } from '../../shared/testing/scripted-destination.ts';
import type { ScriptedDestination } from '../../shared/testing/scripted-destination.ts';
import { openBuckets } from '../../shared/nats/buckets/open-buckets.ts';
import { accountKey } from '../../shared/contracts/subjects.ts';
import { verifyCertificate } from '../../shared/contracts/erasure-certificate.ts';
import { openTestPool } from '../../shared/testing/test-pool.ts';
import { createVisitorStore } from '../../shared/visitors/postgres-visitor-store.ts';
import { lockAccount } from '../draft/edit-entities.ts';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';
import { resealSecrets } from './reseal-secrets.ts';
import type { Resealed } from './reseal-secrets.ts';
import { countSealedOtherwise } from './sealed-otherwise.ts';

const next = randomBytes(32).toString('base64');
const headers = '{"X-Canary":"kept"}';

let plane: TestControlPlane;
let platform: ScriptedDestination;

beforeAll(async () => {
  plane = await startTestControlPlane();
  platform = await startScriptedDestination();
});
afterAll(async () => {
  await plane.stop();
  await platform.close();
});

const nothing = { destinations: 0, sources: 0, versions: 0, sourceKeys: 0, erasures: 0, accountKeys: 0 };

async function reseal(current: string, ...others: readonly string[]): Promise<[Resealed, string[]]> {
  const accounts: string[] = [];
  const total = await resealSecrets({
    storage: plane.storage,
    secretBox: createSecretBox(current, ...others),
    sourceSecrets: undefined,
    now: () => new Date(),
    onAccount: (accountId) => void accounts.push(accountId),
  });
  return [total, accounts];
}

async function left(keyId: string): Promise<unknown> {
  const keys = { secrets: { keyId, which: 'any' } } as const;
  return (await plane.storage.fork().execute<unknown[]>(countSealedOtherwise(keys)))[0];
}

async function filled(): Promise<{ readonly client: Client; readonly id: string; readonly sourceId: string }> {
  const client = await plane.newAccount();
  const settings = { httpDestinationUrl: `${platform.url}/in`, headers };
  const { body } = await client.post('/destinations', { type: 'HTTPDestination', settings });
  const { body: source } = await client.post('/sources', { type: 'NodejsApi' });
  await client.publish();
  // Versions 1 and 2 have the same secret, version 3 another, and the draft a third.
  await client.patch(`/destinations/${body.id}`, { name: 'renamed' });
  await client.publish();
  await client.patch(`/destinations/${body.id}`, { settings: { signingSecret: 'third' } });
  await client.post('/versions');
  await client.patch(`/destinations/${body.id}`, { settings: { signingSecret: 'draft' } });
  return { client, id: body.id, sourceId: source.id };
}

test('reseal: all secrets are sealed with the new key, read as before, and are published', async () => {
  const { client, id, sourceId } = await filled();
  const { body: tokens } = await client.get(`/sources/${sourceId}/tokens`);
  const { body: web } = await client.post('/sources', { type: 'WebSource' });
  const { body: signing } = await client.post(`/sources/${web.id}/secret/rotate`);
  const { body: before } = await client.get('/versions/draft/diff');
  const { keyId } = createSecretBox(next);
  // While a destination is unreachable, the erasure stays open and keeps the visitor's identifiers.
  const claim = { userId: 'ann', externalIds: [], emails: [], anonymousId: undefined };
  const pool = openTestPool(plane.databaseUrl, 1);
  await createVisitorStore(pool).resolve([
    { accountId: client.accountId, claim, receivedAtMs: Date.now(), given: [{}], sentWith: 'server' },
  ]);
  await pool.end();
  const { erasureId } = (await client.delete('/visitors/ann')).body;
  const certificate = (await client.get(`/erasures/${erasureId}/certificate`)).body;
  const found = { destinations: 1, sources: 0, versions: 3, sourceKeys: 5, erasures: 1, accountKeys: 1 };
  expect(await left(keyId)).toEqual(found);
  const [resealed, accounts] = await reseal(next, plane.env.SECRETS_KEY);
  expect(resealed).toEqual({ ...found, unopened: 0 });
  expect(accounts).toEqual([client.accountId]);
  expect(await left(keyId)).toEqual(nothing);
  // A second run finds nothing to reseal.
  expect(await reseal(next, plane.env.SECRETS_KEY)).toEqual([{ ...nothing, unopened: 0 }, []]);
  // The draft differs from the live version only where it did before.
  expect((await client.get('/versions/draft/diff')).body).toEqual(before);
  const { body: audit } = await client.get('/audit?action=secrets.reseal');
  expect(audit.entities).toMatchObject([{ actorId: 'command-line', details: { versions: 3 } }]);

  const rotated = await plane.startAnother({ SECRETS_KEY: next });
  const ask = async (method: string, path: string): Promise<{ status: number; body: unknown }> => {
    const answer = await fetch(`${rotated.baseUrl}/rest/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${client.key}` },
    });
    return { status: answer.status, body: await answer.json() };
  };
  expect(await ask('GET', `/sources/${sourceId}/tokens`)).toEqual({ status: 200, body: tokens });
  expect(await ask('GET', `/sources/${web.id}/tokens`)).toEqual({ status: 200, body: signing });
  const signed = await ask('GET', `/erasures/${erasureId}/certificate`);
  const keys = await ask('GET', '/account/keys');
  for (const one of [certificate, signed.body]) expect(verifyCertificate(one, keys.body).erasureId).toBe(erasureId);
  expect(await ask('POST', `/destinations/${id}/test`)).toMatchObject({ body: { outcome: 'delivered' } });
  expect(platform.requests.at(-1)?.headers['x-canary']).toBe('kept');
  const { config } = await openBuckets(plane.log, 1);
  const context = settingContext(client.accountId, id, 'headers');
  await expect
    .poll(async () => {
      const entry = await config.get(accountKey(client.accountId));
      const { collections } = JSON.parse(Buffer.from(entry?.value ?? []).toString('utf8')) as {
        collections: { destinations: { settings: { headers: string } }[] };
      };
      const sealed = collections.destinations[0]?.settings.headers ?? '';
      return sealed.startsWith(sealedBy(keyId)) ? createSecretBox(next).open(sealed, context) : sealed;
    })
    .toBe(headers);
  await rotated.stop();
  // Seals everything with the first key again, because the other tests use that key.
  await reseal(plane.env.SECRETS_KEY, next);
});

test('reseal: a version stays approved', async () => {
  const { client, id } = await filled();
  const approver = await plane.newKey(client, ['version:approve', 'version:find', 'version:list']);
  await client.patch('/account', { requiresApproval: true });
  const { body: version } = await client.post('/versions');
  await client.post(`/versions/${version.id}/request-approval`);
  expect((await approver.post(`/versions/${version.id}/approve`)).body.status).toBe('approved');
  await reseal(next, plane.env.SECRETS_KEY);
  expect((await client.get('/approvals')).body.entities).toMatchObject([{ status: 'approved', voidBecause: null }]);
  await reseal(plane.env.SECRETS_KEY, next);
  expect((await client.post(`/versions/${version.id}/publish`)).status).toBe(200);
  // A request that was void stays void.
  await client.post(`/versions/${(await client.post('/versions')).body.id}/request-approval`);
  await client.patch(`/destinations/${id}`, { name: 'changed since' });
  await reseal(next, plane.env.SECRETS_KEY);
  expect((await client.get('/approvals')).body.entities[0]).toMatchObject({ status: 'void' });
  await reseal(plane.env.SECRETS_KEY, next);
});

test('reseal: identifiers of an erased visitor that are deleted meanwhile stay deleted', async () => {
  const { client } = await filled();
  const claim = { userId: 'ann', externalIds: [], emails: [], anonymousId: undefined };
  const pool = openTestPool(plane.databaseUrl, 3);
  await createVisitorStore(pool).resolve([
    { accountId: client.accountId, claim, receivedAtMs: Date.now(), given: [{}], sentWith: 'server' },
  ]);
  const { erasureId } = (await client.delete('/visitors/ann')).body;
  const stored = async () => (await pool.query('select subject from erasure_records where id = $1', [erasureId])).rows;
  expect(await stored()).toEqual([{ subject: expect.stringMatching('^enc:v1:') }]);
  const session = await pool.connect();
  try {
    await session.query('begin');
    const own = [erasureId, client.accountId];
    await session.query('update erasure_records set subject = null where id = $1 and account_id = $2', own);
    const resealing = reseal(next, plane.env.SECRETS_KEY);
    const waiting = `select count(*)::int from pg_locks w join pg_locks h on h.transactionid = w.transactionid and h.granted
      where not w.granted and h.pid = $1`;
    const { rows } = await session.query<{ pid: number }>('select pg_backend_pid() as pid');
    await expect.poll(async () => (await pool.query(waiting, [rows[0]?.pid])).rows).toEqual([{ count: 1 }]);
    await session.query('commit');
    await resealing;
  } finally {
    session.release(true);
  }
  expect(await stored()).toEqual([{ subject: null }]);
  const { body: audit } = await client.get('/audit?action=secrets.reseal');
  expect(audit.entities).toMatchObject([{ details: { erasures: 0 } }]);
  await pool.end();
  await reseal(plane.env.SECRETS_KEY, next);
});

test('reseal: after an interrupted run, the next run reseals the remaining accounts', async () => {
  await filled();
  await filled();
  const { keyId } = createSecretBox(next);
  const interrupted = resealSecrets({
    storage: plane.storage,
    secretBox: createSecretBox(next, plane.env.SECRETS_KEY),
    sourceSecrets: undefined,
    now: () => new Date(),
    onAccount: () => {
      throw new Error('broken off');
    },
  });
  await expect(interrupted).rejects.toThrow('broken off');
  const [rest] = await reseal(next, plane.env.SECRETS_KEY);
  expect(rest.destinations).toBeGreaterThanOrEqual(1);
  expect(await left(keyId)).toEqual(nothing);
  await reseal(plane.env.SECRETS_KEY, next);
});

test('order of effects: an account is resealed only once an edit under way has ended', async () => {
  const { client } = await filled();
  const execute = <Row>(sql: string, values: unknown[] = []) => plane.storage.fork().execute<Row[]>(sql, values);
  const sealed = (): Promise<unknown> =>
    execute('select sealed_key from source_keys where account_id = ? order by id', [client.accountId]);
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const editing = plane.storage.fork().transactional(async (em) => {
    await lockAccount(em, client.accountId);
    begin();
    await ended;
  });
  await begun;
  const before = await sealed();
  const resealing = reseal(next, plane.env.SECRETS_KEY);
  try {
    await expect
      .poll(() =>
        execute(
          "select 1 as waits from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        ),
      )
      .toEqual([{ waits: 1 }]);
    expect(await sealed()).toEqual(before);
  } finally {
    end();
    await Promise.all([editing, resealing]);
  }
  expect(await sealed()).not.toEqual(before);
  await reseal(plane.env.SECRETS_KEY, next);
});

test('reseal: a value that neither key opens is counted and left unchanged', async () => {
  const { client, id } = await filled();
  const lost = createSecretBox(randomBytes(32).toString('base64'));
  const sealed = lost.seal('lost', settingContext(client.accountId, id, 'headers'));
  expect(isSealed(sealed)).toBe(true);
  await plane.storage
    .fork()
    .execute(`update entities set body = jsonb_set(body, '{settings,headers}', to_jsonb(?::text)) where id = ?`, [
      sealed,
      id,
    ]);
  const [total] = await reseal(next, plane.env.SECRETS_KEY);
  expect(total.unopened).toBe(1);
  const rows = await plane.storage
    .fork()
    .execute<{ headers: string }[]>(`select body -> 'settings' ->> 'headers' as headers from entities where id = ?`, [
      id,
    ]);
  expect(rows).toEqual([{ headers: sealed }]);
});

test('reseal: the secrets of a source are resealed, each with the key for its kind of secret', async () => {
  const client = await plane.newAccount();
  const before = createSourceSecretBox(plane.env);
  const newest = randomBytes(32).toString('base64');
  const sourceSecrets = createSourceSecretBox({
    SOURCE_SECRETS_KEY: newest,
    SOURCE_SECRETS_KEY_PREVIOUS: plane.env.SOURCE_SECRETS_KEY,
  });
  const given = { type: 'FacebookLeadAds', signingSecret: 'app secret', accessToken: 'page-token' };
  const { body: source } = await client.post('/sources', given);
  await client.publish();
  const run = async (): Promise<Resealed | undefined> => {
    const byAccount = new Map<string, Resealed>();
    await resealSecrets({
      storage: plane.storage,
      secretBox: createSecretBox(plane.env.SECRETS_KEY),
      sourceSecrets,
      now: () => new Date(),
      onAccount: (accountId, resealed) => void byAccount.set(accountId, resealed),
    });
    return byAccount.get(client.accountId);
  };
  expect(await run()).toEqual({ ...nothing, sources: 1, versions: 1, unopened: 0 });
  // A second run finds nothing to reseal.
  expect(await run()).toBeUndefined();
  expect((await client.get('/versions/draft/diff')).body.count).toBe(0);
  const [row] = await plane.storage
    .fork()
    .execute<{ body: Record<string, string> }[]>('select body from entities where id = ?', [source.id]);
  const { signingSecret = '', accessToken = '' } = row?.body ?? {};
  const context = signingSecretContext(client.accountId, source.id);
  expect(createSourceSecretBox({ SOURCE_SECRETS_KEY: newest })?.open(signingSecret, context)).toBe('app secret');
  expect(() => before?.open(signingSecret, context)).toThrow(SecretError);
  const tokenContext = accessTokenContext(client.accountId, source.id);
  expect(createSecretBox(plane.env.SECRETS_KEY).open(accessToken, tokenContext)).toBe('page-token');
  // The key of source secrets does not open this value, which is sealed with another key.
  expect(() => sourceSecrets?.open(accessToken, tokenContext)).toThrow(SecretError);
});
