import { request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiKey } from '../../shared/postgres/entities.ts';
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

const statusWith = async (authorization: string | undefined, method = 'GET', path = '/destinations', body?: string) => {
  const headers = { ...(authorization === undefined ? {} : { authorization }), 'content-type': 'application/json' };
  const answer = await request(`${plane.baseUrl}/rest/v1${path}`, {
    method: method as 'GET',
    headers,
    ...(body === undefined ? {} : { body }),
  });
  return { status: answer.statusCode, text: await answer.body.text() };
};

test('authentication: missing, malformed, unknown and altered keys are the same 401', async () => {
  const altered = `${client.key.slice(0, -1)}${client.key.endsWith('a') ? 'b' : 'a'}`;
  const headers = [
    undefined,
    'Bearer',
    'Bearer ',
    `Basic ${client.key}`,
    client.key,
    `Bearer ${client.key} x`,
    'Bearer nope',
    `Bearer ${altered}`,
    `Bearer slk_AAAAAAAAAAAA_${'B'.repeat(43)}`,
    "Bearer ' or 1=1 --",
  ];
  const answers = await Promise.all(headers.map((header) => statusWith(header)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect((await statusWith(`bearer ${client.key}`)).status).toBe(200);
});

test('authentication: expired and revoked keys are 401 at once', async () => {
  const expiring = await plane.newKey(client, ['all'], new Date(Date.now() + 3_600_000));
  const revoked = await plane.newKey(client, ['all']);
  expect((await expiring.get('/destinations')).status).toBe(200);
  expect((await client.delete(`/keys/${revoked.keyId}`)).body.revokedAt).not.toBeNull();
  expect((await revoked.get('/destinations')).status).toBe(401);
  const expired = { expiresAt: new Date(Date.now() - 1) };
  await plane.storage.fork().nativeUpdate(ApiKey, { id: expiring.keyId }, expired);
  expect((await expiring.get('/destinations')).status).toBe(401);
});

test('authentication: only the hash of a key is stored, and the last use of the key is recorded', async () => {
  const row = await plane.storage.fork().findOneOrFail(ApiKey, { id: client.keyId });
  expect(JSON.stringify(row)).not.toContain(client.key.slice(-20));
  expect(row.lastUsedAt).not.toBeNull();
});

test('authentication: above a limit of refused keys per address, keys that were not used lately are refused without a lookup', async () => {
  const other = await plane.startAnother({ ADDRESS_REFUSED_KEYS_BURST: 5 });
  const ask = async (authorization: string | undefined): Promise<{ status: number; retryAfterS: number }> => {
    const headers = authorization === undefined ? {} : { authorization };
    const { statusCode, headers: answered, body } = await request(`${other.baseUrl}/rest/v1/destinations`, { headers });
    await body.dump();
    return { status: statusCode, retryAfterS: Number(answered['retry-after'] ?? 0) };
  };
  expect((await ask(`Bearer ${client.key}`)).status).toBe(200);
  const answers: { status: number; retryAfterS: number }[] = [];
  // The limit recovers with time, so on a slow machine a new client may arrive too late to be refused.
  const newcomerStatus = async (): Promise<number> => {
    const newcomer = await plane.newKey(client, ['all']);
    const asked = Array.from({ length: 20 }, () => ask(`Bearer slk_AAAAAAAAAAAA_${'B'.repeat(43)}`));
    answers.push(...(await Promise.all(asked)));
    return (await ask(`Bearer ${newcomer.key}`)).status;
  };
  await expect.poll(newcomerStatus).toBe(429);
  expect(answers.filter(({ status }) => status === 401).length).toBeGreaterThanOrEqual(5);
  const limited = answers.filter(({ status }) => status === 429);
  expect(limited.length).toBeGreaterThan(0);
  for (const { retryAfterS } of limited) expect(retryAfterS).toBeGreaterThanOrEqual(1);
  expect((await ask(`Bearer ${client.key}`)).status).toBe(200);
  expect((await ask(undefined)).status).toBe(401);
  expect(await other.metrics()).toMatch(/sluice_control_plane_refused_keys_total\{reason="not-looked-up"[^}]*\} [1-9]/);
  await other.stop();
});

test('order of answers: 401 before 403 before 400 before 404', async () => {
  const path = '/destinations/nothing';
  const nobody = await plane.newKey(client, ['version:list']);
  const bearer = (key: string): string => `Bearer ${key}`;
  expect((await statusWith(undefined, 'PATCH', path, '{broken')).status).toBe(401);
  const refused = await statusWith(bearer(nobody.key), 'PATCH', path, '{broken');
  expect([refused.status, JSON.parse(refused.text)]).toEqual([
    403,
    { error: 'the API key lacks the scope destination:update' },
  ]);
  expect((await statusWith(bearer(client.key), 'PATCH', path, '{broken')).status).toBe(400);
  expect((await statusWith(bearer(client.key), 'PATCH', path, '{"nope":1}')).status).toBe(400);
  expect((await statusWith(bearer(client.key), 'PATCH', path, '{}')).status).toBe(404);
});

test('scopes: source:view grants source:find, and version:publish covers create, revert and abandon', async () => {
  const { body: source } = await client.post('/sources', { type: 'NodejsApi' });
  const viewer = await plane.newKey(client, ['source:view']);
  expect((await viewer.get(`/sources/${source.id}`)).status).toBe(200);
  const publisher = await plane.newKey(client, ['version:publish']);
  expect((await publisher.post('/versions')).status).toBe(200);
  expect((await publisher.post('/versions/draft/revert', { entities: [] })).status).toBe(200);
  expect((await publisher.post('/versions/draft/abandon')).status).toBe(200);
  expect((await publisher.get('/versions')).status).toBe(403);
});
