import pg from 'pg';
import { request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accountKey } from '../shared/contracts/subjects.ts';
import { openBuckets } from '../shared/nats/buckets/open-buckets.ts';
import type { Client } from './testing/client.ts';
import { startTestControlPlane } from './testing/test-control-plane.ts';
import type { TestControlPlane } from './testing/test-control-plane.ts';

let plane: TestControlPlane;
let [busy, quiet]: (Client | undefined)[] = [];
let holder: pg.Client;

beforeAll(async () => {
  plane = await startTestControlPlane({
    ACCOUNT_REQUESTS_MAX: 8,
    CONTROL_PLANE_DATABASE_CONNECTIONS_MAX: 4,
    EVENT_STREAMS_MAX: 4,
    ACCOUNT_ENTITIES_MAX: 20,
    ACCOUNT_DRAFT_BYTES_MAX: 64 * 1024,
    ACCOUNT_VERSIONS_MAX: 3,
    ACCOUNT_KEYS_MAX: 3,
    CONFIG_PUSH_BYTES_PER_S: 1,
    EXPERIMENT_ASSIGNMENTS_MAX: 2,
    EXPERIMENT_ASSIGNMENTS_PER_S: 1,
  });
  [busy, quiet] = [await plane.newAccount(), await plane.newAccount()];
  holder = new pg.Client({ connectionString: plane.databaseUrl });
  await holder.connect();
});
afterAll(async () => {
  await holder.end();
  await plane.stop();
});

test('request limits: an account whose edits all wait for a lock delays no other account, and learns which limit it reached', async () => {
  if (busy === undefined || quiet === undefined) throw new Error('no accounts');
  await holder.query('begin');
  await holder.query('select 1 from accounts where id = $1 for update', [busy.accountId]);
  const account = busy;
  const answers = Array.from({ length: 12 }, () => account.post('/sources', { type: 'NodejsApi' }));
  const states = answers.map((answer) => ({ answer, status: 0 }));
  for (const state of states) void state.answer.then(({ status }) => (state.status = status));
  await expect.poll(() => states.filter(({ status }) => status === 429).length, { timeout: 30_000 }).toBe(4);
  expect((await quiet.get('/sources')).status).toBe(200);
  expect((await quiet.post('/sources', { type: 'NodejsApi' })).status).toBe(200);
  const refused = await busy.get('/sources');
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1']);
  expect(refused.body.error).toBe('8 requests of the account are under way, try again');
  const page = await plane.metrics();
  expect(page).toMatch(/sluice_control_plane_refused_requests_total\{share="account"\} 5/);
  expect(page).toMatch(/sluice_control_plane_waiting_requests\{share="account"\} 6/);
  await holder.query('commit');
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(statuses.toSorted((a, b) => a - b)).toEqual([...Array<number>(8).fill(200), ...Array<number>(4).fill(429)]);
});

test('request limits: keys are looked up while every connection of the configuration is taken', async () => {
  if (busy === undefined || quiet === undefined) throw new Error('no accounts');
  const held = [await plane.newAccount(), busy];
  await holder.query('begin');
  await holder.query('select 1 from accounts where id = any($1) for update', [held.map((one) => one.accountId)]);
  const edits = held.flatMap((one) => [1, 2, 3].map(() => one.post('/sources', { type: 'NodejsApi' })));
  const taken = /sluice_database_connections\{pool="configuration",state="used"\} 4/;
  await expect.poll(() => plane.metrics(), { timeout: 30_000 }).toMatch(taken);
  const headers = { authorization: `Bearer slk_AAAAAAAAAAAA_${'B'.repeat(43)}` };
  const unknown = await request(`${plane.baseUrl}/rest/v1/sources`, { headers });
  await unknown.body.dump();
  expect(unknown.statusCode).toBe(401);
  await holder.query('commit');
  expect((await Promise.all(edits)).map(({ status }) => status)).toEqual(Array(6).fill(200));
});

test('request limits: each account has its own limit of live views', async () => {
  if (busy === undefined || quiet === undefined) throw new Error('no accounts');
  const open = (client: Client) =>
    request(`${plane.baseUrl}/rest/v1/activity/stream`, { headers: { authorization: `Bearer ${client.key}` } });
  const first = await open(busy);
  const second = await open(busy);
  const other = await open(quiet);
  expect([first.statusCode, second.statusCode, other.statusCode]).toEqual([200, 429, 200]);
  expect(await second.body.json()).toEqual({
    error: '1 live views of the account are open: close one, or try again later',
  });
  for (const { body } of [first, other]) body.on('error', () => undefined).destroy();
});

const namesLimit = (name: string) => ({ status: 409, body: { error: expect.stringContaining(name) } });

test('limits: the number and the size of the entities of an account are limited, and the error names the limit', async () => {
  const client = await plane.newAccount();
  const ids: string[] = [];
  for (let n = 0; n < 20; n += 1) ids.push((await client.post('/sources', { type: 'NodejsApi' })).body.id);
  const refused = await client.post('/sources', { type: 'NodejsApi' });
  expect(refused).toMatchObject(namesLimit('ACCOUNT_ENTITIES_MAX'));
  expect(refused.headers['x-should-retry']).toBe('false');
  expect((await client.get('/sources?limit=100')).body.entities).toHaveLength(20);
  await client.delete(`/sources/${ids[0]}`);
  const allowed = { whitelistDomains: Array.from({ length: 400 }, (_, n) => `${'x'.repeat(50)}${n}.example.com`) };
  const answers = [];
  for (const id of ids.slice(1, 8)) answers.push(await client.patch(`/sources/${id}`, allowed));
  expect(answers[0]?.status).toBe(200);
  expect(answers.at(-1)).toMatchObject(namesLimit('ACCOUNT_DRAFT_BYTES_MAX'));
  // A change that makes the configuration smaller is accepted.
  expect((await client.patch(`/sources/${ids[1]}`, { whitelistDomains: [] })).status).toBe(200);
});

test('limits: the versions and keys of an account are limited, and the account can make room by deleting some', async () => {
  const client = await plane.newAccount();
  const { body: first } = await client.post('/versions');
  await client.post('/sources', { type: 'NodejsApi' });
  const { body: live } = await client.post('/versions', { publish: true });
  const { body: newest } = await client.post('/versions');
  expect(await client.post('/versions')).toMatchObject(namesLimit('ACCOUNT_VERSIONS_MAX'));
  expect(await client.delete(`/versions/${live.id}`)).toMatchObject({ status: 409 });
  expect(await client.delete(`/versions/${newest.id}`)).toMatchObject({ status: 409 });
  expect((await client.delete(`/versions/${first.id}`)).body).toEqual({ deleted: true });
  expect((await client.get(`/versions/${first.id}`)).status).toBe(404);
  expect((await client.post('/versions')).body).toMatchObject({ versionNumber: 4 });

  const key = { name: 'more', scopes: ['source:list'] };
  const { body: second } = await client.post('/keys', key);
  expect((await client.post('/keys', key)).status).toBe(200);
  expect(await client.post('/keys', key)).toMatchObject(namesLimit('ACCOUNT_KEYS_MAX'));
  await client.delete(`/keys/${second.id}`);
  expect((await client.post('/keys', key)).status).toBe(200);
});

test('publishing: versions that an account publishes too fast are written together later, and no other account waits for them', async () => {
  const buckets = await openBuckets(plane.log, 1);
  const [storming, calm] = [await plane.newAccount(), await plane.newAccount()];
  const publishAnother = async (client: Client): Promise<void> => {
    await client.post('/sources', { type: 'NodejsApi' });
    expect((await client.post('/versions', { publish: true })).status).toBe(200);
  };
  const written = async ({ accountId }: Client): Promise<unknown> => {
    const entry = await buckets.config.get(accountKey(accountId));
    if (entry?.value === undefined) return undefined;
    return (JSON.parse(Buffer.from(entry.value).toString()) as { versionNumber: number }).versionNumber;
  };
  await publishAnother(storming);
  await expect.poll(() => written(storming), { timeout: 30_000 }).toBe(1);
  await publishAnother(storming);
  await publishAnother(storming);
  await publishAnother(calm);
  await expect.poll(() => written(calm), { timeout: 30_000 }).toBe(1);
  expect(await written(storming)).toBe(1);
});

test('experiments: made-up visitors use no more storage than their account may, and still get a variant', async () => {
  const client = await plane.newAccount();
  const { body: settings } = await client.post('/collections/experimentSettings', {});
  const { body: experiment } = await client.post('/collections/experiments', { name: 'Button', key: 'button' });
  const variant = { experimentId: experiment.id, name: 'Blue', isControl: true };
  await client.post('/collections/experimentVariants', variant);
  await client.post('/collections/experimentVariants', { ...variant, name: 'Green', isControl: false, weight: 50 });
  await client.post(`/collections/experiments/${experiment.id}/start`);
  await client.post('/versions', { publish: true });
  const ask = async (visitorId: string, more: object = { track_impression: false }) => {
    const body = JSON.stringify({ token: settings.token as string, visitor_id: visitorId, ...more });
    const answer = await request(`${plane.baseUrl}/experiments/assignments/button`, { method: 'POST', body });
    const { in_experiment: isIn } = (await answer.body.json()) as { in_experiment?: boolean };
    return { status: answer.statusCode, isIn, retryAfter: answer.headers['retry-after'] };
  };
  await expect.poll(async () => (await ask('v0')).isIn, { timeout: 45_000 }).toBe(true);
  // One visitor per second is assigned, so some requests are refused at first.
  for (const visitorId of ['v1', 'v2', 'v3'])
    await expect.poll(() => ask(visitorId), { timeout: 45_000 }).toMatchObject({ status: 200, isIn: true });
  const stored = await plane.storage
    .fork()
    .execute('select visitor_id from experiment_assignments where account_id = ? order by 1', [client.accountId]);
  expect(stored).toEqual([{ visitor_id: 'v0' }, { visitor_id: 'v1' }]);
  expect(await plane.metrics()).toMatch(/sluice_experiment_unstored_assignments_total 2/);
  const askMany = () => Promise.all(Array.from({ length: 100 }, () => ask('v0', {})));
  const refusedOf = (answers: Awaited<ReturnType<typeof askMany>>) => answers.filter(({ status }) => status === 429);
  let refused = refusedOf(await askMany());
  for (let round = 0; refused.length === 0 && round < 20; round += 1) refused = refusedOf(await askMany());
  expect(refused[0]?.retryAfter).toBe('1');
});
