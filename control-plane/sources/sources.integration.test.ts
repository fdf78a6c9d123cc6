import { afterAll, beforeAll, expect, test } from 'vitest';
import { decodeAccountConfig } from '../../shared/contracts/config/account-config.ts';
import {
  createSecretBox,
  SecretError,
  signingSecretContext,
  userHashSecretContext,
} from '../../shared/contracts/config/secrets.ts';
import { withoutSignature } from '../../shared/contracts/config/signed-config.ts';
import { accountKey } from '../../shared/contracts/subjects.ts';
import { openBuckets } from '../../shared/nats/buckets/open-buckets.ts';
import { sourceTypes } from '../../shared/collections/source-types.ts';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;
let client: Client;

beforeAll(async () => {
  plane = await startTestControlPlane();
  client = await plane.newAccount();
});
afterAll(() => plane.stop());

test('create source: answers with the whole source, which is not published yet', async () => {
  const { status, body } = await client.post('/sources', { type: 'NodejsApi', name: null });
  expect(status).toBe(200);
  expect(body).toEqual({
    id: expect.any(String),
    name: null,
    type: 'NodejsApi',
    status: 'Enabled',
    createdAt: expect.any(String),
    updatedAt: null,
    accountId: client.accountId,
    isPublished: false,
    liveStatus: null,
    lastTriggeredAt: null,
    lastDispatchedAt: null,
    lastInvalid: null,
    selectedAccountId: null,
    whitelistDomains: null,
    whitelistIps: null,
    botControlMode: null,
    botScoreThreshold: null,
    excludeRequestContext: null,
    redirectUrl: null,
    projectAPIKey: null,
    probabilisticIdentity: null,
    signingSecret: null,
    accessToken: null,
  });
  expect((await client.get(`/sources/${body.id}`)).body).toEqual(body);
});

test('create source: every type can be created', async () => {
  for (const type of sourceTypes) {
    const redirect = type === 'RedirectSource' ? { redirectUrl: 'https://example.com/landing' } : {};
    expect([type, (await client.post('/sources', { type, ...redirect })).status]).toEqual([type, 200]);
  }
  expect((await client.get('/sources?type=RedirectSource')).body.entities).toHaveLength(1);
});

test.each([
  [{}, /type is required/],
  [{ type: 'Telegraph' }, /type must be one of AlchemerWebhook/],
  [{ type: 'RedirectSource' }, /redirectUrl is required for a RedirectSource/],
  [{ type: 'RedirectSource', redirectUrl: 'javascript:alert(1)' }, /redirectUrl must be an absolute http or https URL/],
  [
    { type: 'RedirectSource', redirectUrl: 'https://example.com/\r\nSet-Cookie: a=b' },
    /redirectUrl must be an absolute/,
  ],
  [
    { type: 'RedirectSource', redirectUrl: ' https://example.com/a b' },
    /redirectUrl must be an absolute http or https URL/,
  ],
  [{ type: 'WebSource', whitelistIps: ['10.0.0.0/99'] }, /whitelistIps must hold addresses or CIDR ranges/],
  [{ type: 'WebSource', whitelistDomains: ['https://example.com'] }, /whitelistDomains must hold domain names/],
  [{ type: 'WebSource', botControlMode: 'Maybe' }, /botControlMode must be one of Allow, Block, Threshold or null/],
  [{ type: 'WebSource', botScoreThreshold: 101 }, /botScoreThreshold must be a number of 0 to 100 or null/],
  [{ type: 'WebSource', excludeRequestContext: 'yes' }, /excludeRequestContext must be true or false or null/],
  [{ type: 'WebSource', isPublished: true }, /isPublished is not a known field/],
  [{ type: 'WebSource', signingSecret: 's' }, /signingSecret does not apply to a WebSource, only to a CalComWebhooks/],
  [{ type: 'Heyflow', signingSecret: 's' }, /signingSecret does not apply to a Heyflow/],
  [{ type: 'Heyflow', accessToken: 't' }, /accessToken does not apply to a Heyflow, only to a FacebookLeadAds/],
  [{ type: 'CallRail', signingSecret: '********' }, /signingSecret is the mask of a secret, but none is stored/],
  [{ type: 'CallRail', signingSecret: 'enc:v1:AAAA' }, /signingSecret must not begin like a sealed secret/],
])('create source: refuses %j', async (body, message) => {
  const answer = await client.post('/sources', body);
  expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(message)]);
});

test('patch source: changes the fields that control the source, ignores read-only fields, and clears fields with null', async () => {
  const { body: created } = await client.post('/sources', { type: 'WebSource', name: 'Web' });
  const path = `/sources/${created.id}`;
  expect((await client.patch(path, created)).body).toEqual(created);
  const controls = {
    status: 'Disabled',
    whitelistDomains: ['example.com', 'localhost'],
    whitelistIps: ['203.0.113.7', '2001:db8::/32'],
    botControlMode: 'Threshold',
    botScoreThreshold: 40,
    excludeRequestContext: true,
  };
  const changed = await client.patch(path, { ...controls, isPublished: true, accountId: 'x', lastTriggeredAt: 1 });
  expect(changed.body).toEqual({ ...created, ...controls, updatedAt: expect.any(String) });
  const cleared = await client.patch(path, { whitelistIps: null, botControlMode: null, status: null });
  expect(cleared.body).toMatchObject({ whitelistIps: null, botControlMode: null, status: 'Disabled' });
});

test('tokens: the tokens of a web source come with the script to paste into a page', async () => {
  const { body: created } = await client.post('/sources', { type: 'WebSource' });
  const { body: tokens } = await client.get(`/sources/${created.id}/tokens`);
  expect(tokens.installScript).toMatch(/src="https:\/\/ingest\.example\.com\/sluice\.js\?v=[0-9a-f]{16}"/);
  expect(tokens.installScript).toContain(`data-key="${tokens.token}"`);
  expect(tokens.testInstallScript).toContain(`data-key="${tokens.testToken}"`);
});

test('tokens: a key that may only read sources cannot get their keys, neither from either address nor by rotating them', async () => {
  const { body: created } = await client.post('/sources', { type: 'NodejsApi' });
  const { body: tokens } = await client.get(`/sources/${created.id}/tokens`);
  const reader = await plane.newKey(client, ['source:list', 'source:find', 'audit:list', 'version:find']);
  const answers = [
    await reader.get(`/sources/${created.id}/tokens`),
    await reader.call('GET', `/sources/${created.id}/tokens`, { headers: { 'x-stainless-lang': 'js' } }),
    await reader.post(`/sources/${created.id}/tokens/rotate`),
  ];
  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
  const shown = [
    ...answers,
    await reader.get(`/sources/${created.id}`),
    await reader.get('/sources'),
    await reader.get('/audit'),
  ];
  for (const key of [tokens.token, tokens.testToken])
    expect(JSON.stringify(shown.map(({ body }) => body))).not.toContain(key);
  const sender = await plane.newKey(client, ['source:tokens']);
  expect((await sender.get(`/sources/${created.id}/tokens`)).body).toEqual(tokens);
});

test('tokens: every source has a live and a test key, and only its owner can read them', async () => {
  const { body: created } = await client.post('/sources', { type: 'NodejsApi' });
  const { body: tokens } = await client.get(`/sources/${created.id}/tokens`);
  expect(tokens).toEqual({
    ingestUrl: 'https://ingest.example.com',
    token: expect.stringMatching(/^src_live_[A-Za-z0-9]{32}$/),
    testToken: expect.stringMatching(/^src_test_[A-Za-z0-9]{32}$/),
    secret: null,
    installScript: null,
    testInstallScript: null,
  });
  const rows = await plane.storage.fork().execute('select * from source_keys where source_id = ?', [created.id]);
  expect(JSON.stringify(rows)).not.toContain(tokens.token);
  expect((await client.post('/sources/nothing/tokens/rotate')).status).toBe(404);
});

test('secret: a web source gets a secret on request, the secret is published sealed, and a new secret ends the old one', async () => {
  const owner = await plane.newAccount();
  const { body: web } = await owner.post('/sources', { type: 'WebSource' });
  const { body: server } = await owner.post('/sources', { type: 'NodejsApi' });
  await owner.post('/versions', { publish: true });
  const { config } = await openBuckets(plane.log, 1);
  const published = async () => {
    const value = (await config.get(accountKey(owner.accountId)))?.value;
    return decodeAccountConfig(withoutSignature(value ?? new Uint8Array()));
  };
  expect((await owner.get(`/sources/${web.id}/tokens`)).body.secret).toBeNull();
  expect(await published()).not.toHaveProperty('sourceSecrets');
  const { body: first } = await owner.post(`/sources/${web.id}/secret/rotate`);
  expect(first.secret).toMatch(/^src_secret_[A-Za-z0-9]{40}$/);
  expect((await owner.get(`/sources/${web.id}/tokens`)).body).toEqual(first);
  const { body: second } = await owner.post(`/sources/${web.id}/secret/rotate`);
  expect(second).toEqual({ ...first, secret: expect.not.stringMatching(first.secret) });
  // Rotating the keys does not change the secret, which customers' servers have.
  expect((await owner.post(`/sources/${web.id}/tokens/rotate`)).body.secret).toBe(second.secret);
  const [sealed, ...others] = (await published()).sourceSecrets ?? [];
  expect([sealed?.sourceId, others]).toEqual([web.id, []]);
  const context = userHashSecretContext(owner.accountId, web.id);
  expect(createSecretBox(plane.env.SECRETS_KEY).open(sealed?.sealed ?? '', context)).toBe(second.secret);
  const refused = await owner.post(`/sources/${server.id}/secret/rotate`);
  expect([refused.status, refused.body.error]).toEqual([400, 'a NodejsApi has no secret']);
  const reader = await plane.newKey(owner, ['source:find', 'source:tokens']);
  expect((await reader.post(`/sources/${web.id}/secret/rotate`)).status).toBe(403);
  const { body: audit } = await owner.get('/audit?action=source.rotate-secret');
  expect(audit.entities).toHaveLength(2);
});

test('signing secret: is stored sealed for gateways, is read back masked, and stays until it is changed', async () => {
  const secret = 'what the provider signs with';
  const { body: created } = await client.post('/sources', { type: 'TypeformWebhooks', signingSecret: secret });
  expect(created.signingSecret).toBe('********');
  const path = `/sources/${created.id}`;
  const { body: version } = await client.post('/versions', { publish: true });
  const read = [
    await client.get(path),
    await client.get('/sources?type=TypeformWebhooks'),
    await client.get('/versions/draft/diff'),
    await client.get(`/versions/${version.id}/snapshot`),
    await client.get('/audit'),
  ];
  expect(read.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(JSON.stringify(read)).not.toContain(secret);
  expect(JSON.stringify(read)).not.toContain('enc:v1:');

  const stored = async (): Promise<string> => {
    const [row] = await plane.storage
      .fork()
      .execute<{ secret: string }[]>(`select body ->> 'signingSecret' as secret from entities where id = ?`, [
        created.id,
      ]);
    return row?.secret ?? '';
  };
  const sealed = await stored();
  const context = signingSecretContext(client.accountId, created.id);
  expect(createSecretBox(plane.env.SOURCE_SECRETS_KEY ?? '').open(sealed, context)).toBe(secret);
  // The keys for secrets of destinations and of sources do not open each other's values.
  expect(() => createSecretBox(plane.env.SECRETS_KEY).open(sealed, context)).toThrow(SecretError);

  await client.patch(path, { name: 'Renamed', signingSecret: '********' });
  await client.patch(path, { signingSecret: secret });
  expect(await stored()).toBe(sealed);
  await client.patch(path, { signingSecret: 'another one' });
  expect(await stored()).not.toBe(sealed);
  expect((await client.patch(path, { signingSecret: null })).body.signingSecret).toBeNull();
});

test('check a key: each cause of a 401 has a state of its own, and a key of another account is unknown', async () => {
  const own = await plane.newAccount();
  const { body: source } = await own.post('/sources', { type: 'NodejsApi', name: 'Shop' });
  const { body: keys } = await own.get(`/sources/${source.id}/tokens`);
  const check = async (token: string, asker = own) => (await asker.post('/sources/tokens/check', { token })).body;
  const publish = async () => expect((await own.post('/versions', { publish: true })).status).toBe(200);
  const shop = { isTest: false, sourceId: source.id, sourceName: 'Shop' };
  expect(await check(keys.token)).toEqual({ state: 'notPublished', ...shop });
  expect(await check(keys.testToken)).toEqual({ state: 'notPublished', ...shop, isTest: true });
  await publish();
  expect(await check(keys.token)).toEqual({ state: 'accepted', ...shop });
  const unknown = { state: 'unknown', isTest: null, sourceId: null, sourceName: null };
  expect(await check(keys.token, await plane.newAccount())).toEqual(unknown);
  expect(await check(`${keys.token}x`)).toEqual(unknown);
  const { body: next } = await own.post(`/sources/${source.id}/tokens/rotate`);
  expect([await check(keys.token), await check(next.token)]).toMatchObject([
    { state: 'rotated' },
    { state: 'accepted' },
  ]);
  await own.patch(`/sources/${source.id}`, { status: 'Disabled' });
  expect((await own.get(`/sources/${source.id}`)).body).toMatchObject({ status: 'Disabled', liveStatus: 'Enabled' });
  expect(await check(next.token)).toMatchObject({ state: 'accepted' });
  await publish();
  expect(await check(next.token)).toMatchObject({ state: 'disabled' });
  await own.patch(`/sources/${source.id}`, { status: 'Enabled' });
  expect((await own.get(`/sources/${source.id}`)).body).toMatchObject({ status: 'Enabled', liveStatus: 'Disabled' });
  await own.delete(`/sources/${source.id}`);
  await publish();
  expect(await check(next.token)).toEqual({ state: 'removed', isTest: false, sourceId: null, sourceName: null });
});
