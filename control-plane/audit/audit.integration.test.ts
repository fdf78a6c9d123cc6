import { createHash } from 'node:crypto';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createVisitorStore } from '../../shared/visitors/postgres-visitor-store.ts';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';
import { openTestPool } from '../../shared/testing/test-pool.ts';

let plane: TestControlPlane;
let pool: Pool;

beforeAll(async () => {
  plane = await startTestControlPlane();
  pool = openTestPool(plane.databaseUrl, 2);
});
afterAll(async () => {
  await pool.end();
  await plane.stop();
});

type Entry = {
  readonly action: string;
  readonly actorId: string;
  readonly actorName: string;
  readonly entityId: string | null;
  readonly details: object;
};

test('audit: says who changed and published what, without any value', async () => {
  const client = await plane.newAccount();
  const other = await plane.newKey(client, ['destination:update']);
  const settings = { httpDestinationUrl: 'https://canary.example/', headers: '{"X":"canary"}' };
  const { body: destination } = await client.post('/destinations', { type: 'HTTPDestination', settings });
  const path = `/destinations/${destination.id}`;
  await other.patch(path, { name: 'canary', settings: { method: 'PUT' } });
  // The name does not change, so no entry is recorded.
  await other.patch(path, { name: 'canary' });
  await client.post('/destinations', { type: 'HTTPDestination', settings: { httpDestinationUrl: 'nowhere' } });
  const version = await client.publish();
  await client.delete(path);
  await client.post('/versions/draft/abandon');
  const { body } = await client.get('/audit');
  const entries = body.entities as Entry[];
  expect(entries.map(({ action }) => action)).toEqual([
    'draft.abandon',
    'destination.delete',
    'version.publish',
    'version.create',
    'destination.update',
    'destination.create',
  ]);
  const update = entries.find(({ action }) => action === 'destination.update');
  expect(update).toMatchObject({
    actorId: other.keyId,
    actorName: 'test',
    collection: 'destinations',
    entityId: destination.id,
    details: { fields: ['name', 'settings'] },
  });
  const publish = entries.find(({ action }) => action === 'version.publish');
  expect(publish).toMatchObject({ actorId: client.keyId, entityId: version.id, details: { versionNumber: 1 } });
  expect(JSON.stringify(body)).not.toContain('canary');
});

const actionsOf = async (client: Client, query = ''): Promise<Entry[]> =>
  (await client.get(`/audit${query}`)).body.entities as Entry[];

test('audit: reads of source keys and of visitors are recorded, with a keyed hash in place of the visitor’s id', async () => {
  const client = await plane.newAccount();
  const { body: source } = await client.post('/sources', { type: 'NodejsApi' });
  const visitors = createVisitorStore(pool);
  const claim = { userId: 'canary', externalIds: [], emails: ['canary@example.com'], anonymousId: undefined };
  await visitors.resolve([
    { accountId: client.accountId, claim, receivedAtMs: Date.now(), given: [{ city: 'Bern' }], sentWith: 'server' },
  ]);
  await client.get(`/sources/${source.id}/tokens`);
  await client.get('/visitors?email=canary@example.com');
  await client.get('/visitors?userId=canary-missing');
  await client.get('/visitors/canary');
  const entries = await actionsOf(client);
  const entityId = entries[0]?.entityId;
  expect(entityId).toMatch(/^[0-9a-f]{64}$/);
  expect(entries.slice(0, 4)).toMatchObject([
    { action: 'visitor.read', entityId, details: { by: 'id', isFound: true } },
    { action: 'visitor.read', entityId: null, details: { by: 'userId', isFound: false } },
    { action: 'visitor.read', entityId, details: { by: 'email', isFound: true } },
    { action: 'source.read-tokens', entityId: source.id, actorId: client.keyId },
  ]);
  expect(JSON.stringify(entries)).not.toContain('canary');
  // The hash is keyed, so a reader of the table cannot find ids by trying.
  expect(entityId).not.toBe(createHash('sha256').update('canary').digest('hex'));
  expect(await actionsOf(client, '?visitorId=canary')).toHaveLength(2);
  expect(await actionsOf(client, '?visitorId=canary-missing')).toHaveLength(0);
});

test('audit: refused keys are recorded once a minute per key and reason, without the key itself; unknown keys are counted', async () => {
  const client = await plane.newAccount();
  const ended = await plane.newKey(client, ['all']);
  await client.delete(`/keys/${ended.keyId}`);
  const wrong = `${client.key.slice(0, -1)}${client.key.endsWith('a') ? 'b' : 'a'}`;
  const before = await refusedKeys();
  for (let attempt = 0; attempt < 5; attempt += 1) {
    expect((await ended.get('/destinations')).status).toBe(401);
    const headers = { authorization: `Bearer ${wrong}` };
    expect((await client.call('GET', '/destinations', { headers })).status).toBe(401);
  }
  const unknown = { authorization: `Bearer slk_AAAAAAAAAAAA_${'B'.repeat(43)}` };
  expect((await client.call('GET', '/destinations', { headers: unknown })).status).toBe(401);
  // Signing in to the console with the key is refused in the same way.
  const signedIn = await client.call('POST', '/session', {
    body: { key: wrong },
    headers: { 'x-sluice-console': '1' },
  });
  expect(signedIn.status).toBe(401);
  await expect.poll(() => actionsOf(client, '?action=key.refused')).toHaveLength(2);
  const entries = await actionsOf(client, '?action=key.refused');
  expect(entries.map(({ entityId, details }) => [entityId, details])).toEqual(
    expect.arrayContaining([
      [ended.keyId, { reason: 'revoked', attempts: 1 }],
      [client.keyId, { reason: 'wrong-secret', attempts: 1 }],
    ]),
  );
  expect(JSON.stringify(entries)).not.toContain(wrong.slice(-20));
  const after = await refusedKeys();
  const counted = Object.entries(after).map(([reason, count]) => [reason, count - (before[reason] ?? 0)]);
  expect(Object.fromEntries(counted)).toMatchObject({ unknown: 1, revoked: 5, 'wrong-secret': 6 });
});

/** Keys refused since the start of the control plane, which all tests of this file share, by reason. */
async function refusedKeys(): Promise<Readonly<Record<string, number>>> {
  const counts = (await plane.metrics()).matchAll(/refused_keys_total\{reason="([\w-]+)"\} (\d+)/g);
  return Object.fromEntries([...counts].map(([, reason = '', count]) => [reason, Number(count)]));
}

test('audit: an action that cannot be audited is not done, and its answer shows nothing', async () => {
  const client = await plane.newAccount();
  const settings = { httpDestinationUrl: 'https://example.com/' };
  const { body: destination } = await client.post('/destinations', { type: 'HTTPDestination', settings });
  const { body: source } = await client.post('/sources', { type: 'NodejsApi' });
  await client.publish();
  const replays = `/destinations/${destination.id}/replay`;
  const { body: running } = await client.post(replays, { what: 'dead-letters' });
  const claim = { userId: 'kept', externalIds: [], emails: [], anonymousId: undefined };
  await createVisitorStore(pool).resolve([
    { accountId: client.accountId, claim, receivedAtMs: Date.now(), given: [{ city: 'Bern' }], sentWith: 'server' },
  ]);
  // The trigger fails at the commit, after all statements have succeeded.
  await pool.query(`create function refuse_audit() returns trigger as $$
    begin raise exception 'no room for the audit'; end $$ language plpgsql`);
  await pool.query(`create constraint trigger refuse_audit after insert on audit_entries deferrable initially deferred
    for each row when (new.account_id = '${client.accountId}') execute function refuse_audit()`);
  const allowAudit = (): Promise<unknown> => pool.query('drop trigger if exists refuse_audit on audit_entries');
  onTestFinished(() => allowAudit().then(() => undefined));
  const answers = [
    await client.post(replays, { what: 'dead-letters', reason: 'status 400' }),
    await client.post(`${replays}s/${running.id}/cancel`),
    await client.delete('/visitors/kept'),
    await client.get('/visitors/kept'),
    await client.get(`/sources/${source.id}/tokens`),
    await client.post('/keys', { name: 'x', scopes: ['all'] }),
  ];
  expect(answers.map(({ status }) => status >= 500)).toEqual(answers.map(() => true));
  await allowAudit();
  expect((await client.get(`${replays}s`)).body.entities).toEqual([running]);
  expect((await client.get('/visitors/kept')).body).toMatchObject({ id: 'kept', properties: { city: 'Bern' } });
  expect((await client.get('/keys')).body.entities).toHaveLength(1);
});

test('audit: an effect that fails after its entry was written is recorded as failed', async () => {
  const client = await plane.newAccount();
  const settings = { httpDestinationUrl: 'https://example.com/' };
  const { body: destination } = await client.post('/destinations', { type: 'HTTPDestination', settings });
  await client.publish();
  const path = `/destinations/${destination.id}/replay`;
  const statuses: number[] = [];
  for (let minute = 10; minute <= 20; minute += 1) {
    const range = { from: `2026-01-01T00:${minute}:00.000Z`, to: `2026-01-01T00:${minute}:30.000Z` };
    statuses.push((await client.post(path, { what: 'log', ...range })).status);
  }
  expect(statuses.slice(-2)).toEqual([200, 429]);
  const [failed, asked] = await actionsOf(client, `?entityId=${destination.id}`);
  expect([failed?.action, asked?.action]).toEqual(['destination.replay-failed', 'destination.replay']);
});

test('audit: entries can be read in pages and filtered', async () => {
  const client = await plane.newAccount();
  for (let index = 0; index < 4; index += 1) await client.post('/sources', { type: 'NodejsApi' });
  await client.post('/versions');
  const first = await client.get('/audit?limit=3');
  expect(first.body.pagination.hasMore).toBe(true);
  const rest = await client.get(`/audit?limit=3&cursor=${first.body.pagination.nextCursor}`);
  expect([first.body.entities.length, rest.body.entities.length]).toEqual([3, 2]);
  const count = async (query: string): Promise<number> => (await client.get(`/audit?${query}`)).body.entities.length;
  expect(await count('action=source.create')).toBe(4);
  expect(await count('collection=sources')).toBe(4);
  expect(await count('action=version.create')).toBe(1);
  expect(await count('entityId=nothing')).toBe(0);
});
