import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createSecretBox } from '../../shared/contracts/config/secrets.ts';
import { verifyCertificate } from '../../shared/contracts/erasure-certificate.ts';
import { createEgressRules } from '../../shared/egress/egress-rules.ts';
import { createGuardedLookup } from '../../shared/egress/guarded-lookup.ts';
import { createSender } from '../../shared/egress/sender.ts';
import { compiledPath } from '../../shared/runtime/compiled-path.ts';
import { createLogger } from '../../shared/runtime/logger.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { startScriptedDestination } from '../../shared/testing/scripted-destination.ts';
import type { ScriptedDestination } from '../../shared/testing/scripted-destination.ts';
import { openTestPool } from '../../shared/testing/test-pool.ts';
import { createVisitorStore } from '../../shared/visitors/postgres-visitor-store.ts';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';
import { claimTargets, confirmTarget, settleTarget } from './erasure-targets.ts';
import { startForwarding } from './forward-erasures.ts';

let plane: TestControlPlane;
let pool: Pool;
let platform: ScriptedDestination;

beforeAll(async () => {
  plane = await startTestControlPlane({ ERASURE_FORWARD_AFTER_MS: 0 });
  pool = openTestPool(plane.databaseUrl, 4);
  platform = await startScriptedDestination();
});
afterEach(() => platform.answer(() => 200));
afterAll(async () => {
  await pool.end();
  await plane.stop();
  await platform.close();
});

async function addVisitor({ accountId }: Client, name: string): Promise<void> {
  const claim = {
    userId: `d-${name}`,
    externalIds: [`x-${name}`],
    emails: [`${name}@example.com`],
    anonymousId: undefined,
  };
  const given = [{ phone_number: '079 123 45 67', country: 'CH' }];
  await createVisitorStore(pool).resolve([{ accountId, claim, receivedAtMs: Date.now(), given, sentWith: 'server' }]);
}

async function addDestination(client: Client, type: string, settings: JsonObject): Promise<string> {
  const { status, body } = await client.post('/destinations', { type, name: type, settings });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.id as string;
}

type State = { readonly name: string; readonly state: string; readonly reason: string | null };

async function statesOf(client: Client, id: string): Promise<readonly (readonly [string, string])[]> {
  const { body } = await client.get(`/erasures/${id}`);
  return (body.destinations as State[]).map(({ name, state }) => [name, state] as const);
}

const requestsTo = (path: string) => platform.requests.filter((request) => request.path === path);

const braze = (prefix: string): JsonObject => ({ baseUrl: `${platform.url}${prefix}`, apiKey: 'key' });
const own = (path: string): JsonObject => ({
  httpDestinationUrl: `${platform.url}/in`,
  erasureUrl: `${platform.url}${path}`,
});

test('erasure: every enabled destination is asked, failures are retried, and open work is reported', async () => {
  const [client, other] = [await plane.newAccount(), await plane.newAccount()];
  await addDestination(client, 'Braze', braze('/a'));
  await addDestination(client, 'HTTPDestination', own('/a/erase'));
  const mixpanel = await addDestination(client, 'Mixpanel', { projectToken: 't' });
  await addDestination(client, 'Plausible', { domain: 'example.com' });
  const gone = await addDestination(client, 'Customerio', { siteId: 's', apiKey: 'k', baseUrl: platform.url });
  await addDestination(client, 'Woopra', { project: 'example.com' });
  await client.publish();
  await addDestination(other, 'HTTPDestination', own('/b/erase'));
  await other.publish();
  for (const one of [client, other]) await addVisitor(one, 'ann');
  // The destination is deleted after events were sent, so the platform still has the visitors.
  await client.delete(`/destinations/${gone}`);
  await client.publish();

  let isDown = true;
  platform.answer(({ path }) => (path.startsWith('/a/users') && isDown ? 503 : 200));
  const { body: erased } = await client.call('DELETE', '/visitors/d-ann', { body: { reference: 'ticket 7' } });
  const id = erased.erasureId as string;
  const waiting = [
    ['Braze', 'pending'],
    ['Customer.io', 'manual'],
    ['HTTP Destination', 'done'],
    ['Mixpanel', 'manual'],
    ['Plausible', 'nothing'],
    ['Woopra', 'manual'],
  ];
  await expect.poll(() => statesOf(client, id), { timeout: 20_000 }).toEqual(waiting);
  await expect.poll(async () => (await client.get(`/erasures/${id}`)).body.destinations[0].reason).toBe('status 503');
  const [sent] = requestsTo('/a/erase');
  expect(JSON.parse(sent?.body ?? '')).toMatchObject({
    type: 'erasure',
    reference: id,
    identities: [
      { kind: 'visitor_id', value: 'd-ann' },
      { kind: 'external_id', value: 'x-ann' },
      { kind: 'email', value: 'ann@example.com' },
      { kind: 'phone_number', value: '+41791234567' },
    ],
  });
  const { body: shown } = await client.get(`/erasures/${id}`);
  const reasons = Object.fromEntries((shown.destinations as State[]).map(({ name, reason }) => [name, reason]));
  expect(reasons).toMatchObject({
    Mixpanel: expect.stringContaining('OAuth token'),
    'Customer.io': expect.stringContaining('removed'),
    Woopra: expect.stringContaining('Woopra'),
  });
  expect(new Date(shown.dueAt).getTime() - new Date(shown.requestedAt).getTime()).toBe(30 * 86_400_000);
  const stored = async (): Promise<unknown> =>
    (await pool.query('select subject from erasure_records where id = $1', [id])).rows[0].subject;
  expect(await stored()).toMatch(/^enc:v1:/);
  const retained = async (): Promise<unknown> => {
    const [{ body: certificate }, { body: keys }] = [
      await client.get(`/erasures/${id}/certificate`),
      await client.get('/account/keys'),
    ];
    return verifyCertificate(certificate, keys).retained.find(({ name }) => name === 'erasure_records');
  };
  expect(await retained()).toEqual({
    name: 'erasure_records',
    why: expect.stringContaining('identifiers'),
    until: new Date(new Date(shown.dueAt).getTime() + 30 * 86_400_000).toISOString(),
  });

  isDown = false;
  await client.patch(`/destinations/${mixpanel}`, {
    settings: { gdprToken: 'oauth', baseUrl: platform.url, projectToken: 't' },
  });
  await client.publish();
  platform.answer(({ path }) =>
    path.includes('/data-deletions') ? { status: 200, body: '{"results":{"task_id":"17"}}' } : 200,
  );
  expect((await client.post(`/erasures/${id}/retry`)).status).toBe(200);
  await expect
    .poll(() => statesOf(client, id), { timeout: 20_000 })
    .toEqual([
      ['Braze', 'done'],
      ['Customer.io', 'manual'],
      ['HTTP Destination', 'done'],
      ['Mixpanel', 'requested'],
      ['Plausible', 'nothing'],
      ['Woopra', 'manual'],
    ]);
  expect(
    requestsTo('/a/users/delete')
      .slice(-3)
      .map(({ body }) => Object.keys(JSON.parse(body) as object)),
  ).toEqual([['external_ids'], ['user_aliases'], ['email_addresses']]);
  // The platform reports when it has finished.
  platform.answer(({ path }) => ({
    status: 200,
    body: path.includes('/17') ? '{"results":{"status":"SUCCESS"}}' : '{}',
  }));
  await pool.query(
    `update erasure_destinations set next_attempt_at = now() where erasure_id = $1 and state = 'requested'`,
    [id],
  );
  await expect
    .poll(async () => Object.fromEntries(await statesOf(client, id)), { timeout: 20_000 })
    .toMatchObject({ Mixpanel: 'done' });
  for (const { name, id: destinationId } of shown.destinations as { name: string; id: string }[]) {
    if (!['Customer.io', 'Woopra'].includes(name)) continue;
    const path = `/erasures/${id}/destinations/${destinationId}/confirm`;
    expect([(await client.post(path)).status, (await client.post(path)).status]).toEqual([200, 409]);
    expect((await other.post(path)).status).toBe(404);
  }
  expect([await stored(), await retained()]).toEqual([null, undefined]);
  // The other account's visitor with the same name is not deleted, neither here nor at the platform.
  expect((await other.get('/visitors/d-ann')).status).toBe(200);
  expect(requestsTo('/b/erase')).toEqual([]);
});

/** Erases a visitor and returns the names of the destinations that are asked. */
async function askedFor(client: Client, name: string): Promise<readonly string[]> {
  const { body } = await client.delete(`/visitors/d-${name}`);
  return (await statesOf(client, body.erasureId)).map(([destination]) => destination);
}

test('erasure: a destination is asked that only a version enabled which went live again', async () => {
  const client = await plane.newAccount();
  const woopra = await addDestination(client, 'Woopra', { project: 'example.com' });
  const one = await client.publish();
  await client.delete(`/destinations/${woopra}`);
  await client.publish();
  await client.post(`/versions/${one.id}/publish`);
  await addVisitor(client, 'eve');
  expect(await askedFor(client, 'eve')).toEqual(['Woopra']);
});

test('erasure: a destination of a deleted version is asked, but not for visitors that it never had', async () => {
  const client = await plane.newAccount();
  const plausible = await addDestination(client, 'Plausible', { domain: 'example.com' });
  const one = await client.publish();
  await client.delete(`/destinations/${plausible}`);
  const woopra = await addDestination(client, 'Woopra', { project: 'example.com' });
  const two = await client.publish();
  await addVisitor(client, 'fay');
  await client.delete(`/destinations/${woopra}`);
  await client.publish();
  await addVisitor(client, 'gil');
  for (const { id } of [one, two]) expect((await client.delete(`/versions/${id}`)).status).toBe(200);
  expect(await askedFor(client, 'fay')).toEqual(['Woopra']);
  expect(await askedFor(client, 'gil')).toEqual([]);
});

test('erasure: the identifiers are deleted if the last two destinations are settled at once', async () => {
  const client = await plane.newAccount();
  const ids = [
    await addDestination(client, 'Woopra', { project: 'example.com' }),
    await addDestination(client, 'Mixpanel', { projectToken: 't' }),
  ] as const;
  await client.publish();
  await addVisitor(client, 'hal');
  const { erasureId } = (await client.delete('/visitors/d-hal')).body;
  await expect
    .poll(() => statesOf(client, erasureId), { timeout: 20_000 })
    .toEqual([
      ['Mixpanel', 'manual'],
      ['Woopra', 'manual'],
    ]);
  const [first, second] = [await pool.connect(), await pool.connect()];
  try {
    const confirm = (session: typeof first, destinationId: string) =>
      confirmTarget(session, client.accountId, erasureId, { destinationId, by: 'test', now: new Date() });
    for (const session of [first, second]) await session.query('begin');
    await confirm(first, ids[0]);
    let isSettled = false;
    const settling = confirm(second, ids[1]).then(() => (isSettled = true));
    const { rows } = await first.query<{ pid: number }>('select pg_backend_pid() as pid');
    const waiting = 'select from pg_stat_activity where $1 = any (pg_blocking_pids(pid))';
    await expect.poll(async () => isSettled || (await pool.query(waiting, [rows[0]?.pid])).rowCount === 1).toBe(true);
    await first.query('commit');
    await settling;
    await second.query('commit');
  } finally {
    for (const session of [first, second]) session.release(true);
  }
  const { rows } = await pool.query('select subject from erasure_records where id = $1', [erasureId]);
  expect(rows).toEqual([{ subject: null }]);
});

test('certificate: says what was erased where and until when the rest is kept, and anyone can verify it', async () => {
  const client = await plane.newAccount();
  await addDestination(client, 'HTTPDestination', own('/c/erase'));
  await client.publish();
  await addVisitor(client, 'cleo-canary');
  const { body: erased } = await client.call('DELETE', '/visitors/d-cleo-canary', { body: { reference: 'ticket 8' } });
  const id = erased.erasureId as string;
  await expect.poll(() => statesOf(client, id), { timeout: 20_000 }).toEqual([['HTTP Destination', 'done']]);
  const { body: certificate } = await client.get(`/erasures/${id}/certificate`);
  const { body: keys } = await client.get('/account/keys');
  const payload = verifyCertificate(certificate, keys);
  expect(payload).toMatchObject({
    accountId: client.accountId,
    erasureId: id,
    reference: 'ticket 8',
    erasedAt: erased.erasedAt,
    destinations: [{ name: 'HTTP Destination', state: 'done', doneAt: expect.any(String) }],
  });
  expect(payload.stores).toContainEqual({ name: 'visitors', deleted: 1 });
  const until = (name: string): number =>
    new Date(payload.retained.find((one) => one.name === name)?.until ?? 0).getTime();
  expect(until('EVENTS')).toBe(new Date(erased.erasedAt).getTime() + plane.env.RETENTION_HISTORY_MS);
  expect(until('DEAD_LETTERS')).toBe(new Date(erased.erasedAt).getTime() + plane.env.LOG_DEAD_LETTERS_AGE_MS);
  expect(payload.retained).toContainEqual(expect.objectContaining({ name: 'saved_views', until: null }));
  expect(JSON.stringify(payload)).not.toContain('canary');

  const changed = { ...payload, reference: 'another' };
  const forged = { ...certificate, payload: Buffer.from(JSON.stringify(changed)).toString('base64url') };
  expect(() => verifyCertificate(forged, keys)).toThrow('was changed');
  const { body: foreign } = await (await plane.newAccount()).get('/account/keys');
  expect(() => verifyCertificate(certificate, foreign)).toThrow('not in the key set');

  const folder = await mkdtemp(join(tmpdir(), 'certificate-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = async (name: string, value: unknown): Promise<string> => {
    await writeFile(join(folder, name), JSON.stringify(value));
    return join(folder, name);
  };
  const jwks = await file('keys', keys);
  expect(await runVerify([await file('certificate', certificate), '--jwks', jwks])).toMatchObject({
    code: 0,
    output: expect.stringContaining(id),
  });
  expect(await runVerify([await file('forged', forged), '--jwks', jwks])).toEqual({
    code: 1,
    output: 'verify-certificate: the signature does not fit: the certificate was changed\n',
  });
  const reader = await plane.newKey(client, ['erasure:list']);
  expect((await reader.get(`/erasures/${id}/certificate`)).status).toBe(403);
});

async function runVerify(args: readonly string[]): Promise<{ readonly code: unknown; readonly output: string }> {
  const entry = compiledPath(new URL('../../deploy/cli/verify-certificate/main.ts', import.meta.url));
  const child = spawn(process.execPath, [entry, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, output };
}

const hourMs = 3_600_000;

const forwardingProcess = `
  const [module, folder, databaseUrl, secretsKey, aheadMs] = process.argv.slice(1);
  const at = (path) => import(new URL(path, module));
  const { startForwarding } = await import(module);
  const { createSecretBox } = await at('../../shared/contracts/config/secrets.js');
  const { createEgressRules } = await at('../../shared/egress/egress-rules.js');
  const { createGuardedLookup } = await at('../../shared/egress/guarded-lookup.js');
  const { createSender } = await at('../../shared/egress/sender.js');
  const { createLogger } = await at('../../shared/runtime/logger.js');
  const { default: pg } = await import('pg');
  const rules = createEgressRules(['127.0.0.0/8']);
  const lookupFor = createGuardedLookup(rules);
  const limits = { connectionsMax: 1, connectTimeoutMs: 5000, headersTimeoutMs: 60000, totalTimeoutMs: 60000 };
  startForwarding({
    pool: new pg.Pool({ connectionString: databaseUrl }),
    secretBox: createSecretBox(secretsKey),
    createSender: () => createSender({ rules, lookupFor, limits }),
    deadlineMs: 30 * 86400000,
    logger: createLogger('test', 'error'),
    now: () => new Date(Date.now() + Number(aheadMs)),
  });
  setInterval(() => undefined, 1000);
`;

test('erasure: a process killed during an attempt loses no erasure, and no destination of another account is asked', async () => {
  const [client, other] = [await plane.newAccount(), await plane.newAccount()];
  for (const [one, path] of [
    [client, '/k'],
    [other, '/o'],
  ] as const) {
    await addDestination(one, 'Braze', braze(path));
    await one.publish();
    await addVisitor(one, 'kim');
  }
  // By this control plane's clock the erasure is not due yet, so only the processes below forward it.
  const later = await plane.startAnother({ ERASURE_FORWARD_AFTER_MS: hourMs });
  const answer = await fetch(`${later.baseUrl}/rest/v1/visitors/d-kim`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${client.key}` },
  });
  const { erasureId } = (await answer.json()) as { erasureId: string };
  await later.stop();

  // The second of three requests never gets an answer.
  let asked = 0;
  platform.answer(({ path }) => (path === '/k/users/delete' && (asked += 1) === 2 ? 'hang' : 201));
  const entry = compiledPath(new URL('forward-erasures.ts', import.meta.url));
  const args = [`file://${entry}`, '', plane.databaseUrl, plane.env.SECRETS_KEY, String(2 * hourMs)];
  const child = spawn(process.execPath, ['--input-type=module', '--eval', forwardingProcess, '--', ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await expect.poll(() => asked, { timeout: 30_000 }).toBe(2);
  const closed = once(child, 'close');
  child.kill('SIGKILL');
  await closed;
  expect(await statesOf(client, erasureId)).toEqual([['Braze', 'pending']]);

  const rules = createEgressRules(['127.0.0.0/8']);
  const lookupFor = createGuardedLookup(rules);
  const limits = { connectionsMax: 1, connectTimeoutMs: 5_000, headersTimeoutMs: 5_000, totalTimeoutMs: 5_000 };
  const forward = (aheadMs: number) =>
    startForwarding({
      pool,
      secretBox: createSecretBox(plane.env.SECRETS_KEY),
      createSender: () => createSender({ rules, lookupFor, limits }),
      deadlineMs: plane.env.ERASURE_DEADLINE_MS,
      logger: createLogger('test', 'silent'),
      now: () => new Date(Date.now() + aheadMs),
    });
  // No other process works on the erasure until the killed process's lease ends.
  const early = forward(2 * hourMs);
  await expect.poll(() => early.figures?.pending).toBeGreaterThan(0);
  await early.stop();
  expect(asked).toBe(2);
  // A process that was suspended cannot settle its attempt if another process has taken over the attempt.
  const at = new Date(Date.now() + 3 * hourMs);
  const claim = { now: at, leaseEndsAt: at, max: 100, ofAccountMax: 2 };
  const claimed = async () => (await claimTargets(pool, claim)).find((one) => one.erasureId === erasureId);
  const stale = (await claimed()) ?? expect.unreachable();
  const taken = (await claimed()) ?? expect.unreachable();
  expect(taken.attempts).toBe(stale.attempts + 1);
  const lost = { state: 'failed', reason: 'late', reference: undefined, nextAttemptAt: undefined } as const;
  await settleTarget(pool, stale, lost, at);
  expect(await statesOf(client, erasureId)).toEqual([['Braze', 'pending']]);
  // An erasure that another process is claiming is skipped without waiting.
  const impatient = openTestPool(plane.databaseUrl, 1);
  await impatient.query("set lock_timeout = '10s'");
  const holder = await pool.connect();
  await holder.query('begin');
  await holder.query('select from erasure_destinations where erasure_id = $1 for update', [erasureId]);
  try {
    const others = await claimTargets(impatient, claim);
    expect(others.filter((one) => one.erasureId === erasureId)).toEqual([]);
  } finally {
    await holder.query('rollback');
    holder.release();
    await impatient.end();
  }
  const heir = forward(3 * hourMs);
  await expect.poll(() => statesOf(client, erasureId), { timeout: 30_000 }).toEqual([['Braze', 'done']]);
  await heir.stop();
  // The attempt is repeated from its first request: repeating a request is harmless.
  expect(requestsTo('/k/users/delete').map(({ body }) => Object.keys(JSON.parse(body) as object)[0])).toEqual([
    'external_ids',
    'user_aliases',
    'external_ids',
    'user_aliases',
    'email_addresses',
  ]);
  expect(requestsTo('/o/users/delete')).toEqual([]);
  expect((await other.get('/visitors/d-kim')).status).toBe(200);
});

test('erasure: metrics count open and due destinations, and an attempt that fails after the deadline is the last', async () => {
  const client = await plane.newAccount();
  await addDestination(client, 'HTTPDestination', own('/d/erase'));
  await client.publish();
  await addVisitor(client, 'dan');
  platform.answer(({ path }) => (path === '/d/erase' ? 503 : 200));
  const { body } = await client.delete('/visitors/d-dan');
  const id = body.erasureId as string;
  await expect
    .poll(async () => (await client.get(`/erasures/${id}`)).body.destinations[0].reason, { timeout: 20_000 })
    .toBe('status 503');
  await pool.query(
    `update erasure_destinations set next_attempt_at = now() + interval '1 hour' where erasure_id = $1`,
    [id],
  );
  const open = async (dueIn: string): Promise<string> => {
    await pool.query(`update erasure_records set due_at = now() + $2::interval where id = $1`, [id, dueIn]);
    const another = await plane.startAnother();
    await expect.poll(() => another.metrics()).toContain('sluice_erasure_destinations_open{state="pending"} 1');
    const metrics = await another.metrics();
    await another.stop();
    return metrics;
  };
  expect(await open('20 days')).toContain('sluice_erasure_destinations_due{when="soon"} 0');
  expect(await open('3 days')).toContain('sluice_erasure_destinations_due{when="soon"} 1');
  expect(await open('-1 hour')).toContain('sluice_erasure_destinations_due{when="overdue"} 1');
  await client.post(`/erasures/${id}/retry`);
  await expect.poll(() => statesOf(client, id), { timeout: 20_000 }).toEqual([['HTTP Destination', 'failed']]);
  expect((await client.get(`/erasures/${id}`)).body.destinations[0].reason).toBe(
    'not done by the deadline: status 503',
  );
});
