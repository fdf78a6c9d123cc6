import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { client as logClient } from '../../shared/nats/connection/client.ts';
import { followErasures } from '../../shared/nats/erasures/follow-erasures.ts';
import { streams } from '../../shared/nats/streams/topology.ts';
import { holdForWriting } from '../../shared/visitors/erasure-lock.ts';
import { createVisitorStore } from '../../shared/visitors/postgres-visitor-store.ts';
import type { VisitorClaim } from '../../shared/visitors/visitor-identity.ts';
import type { VisitorOutcome, VisitorStore } from '../../shared/visitors/visitor-store.ts';
import { countWaitingForLocks } from '../../shared/testing/database-sessions.ts';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';
import { openTestPool } from '../../shared/testing/test-pool.ts';
import { notOfTwin } from '../../shared/testing/twin-rows.ts';

let plane: TestControlPlane;
let pool: Pool;
let visitors: VisitorStore;
let client: Client;

beforeAll(async () => {
  plane = await startTestControlPlane();
  pool = openTestPool(plane.databaseUrl, 4);
  visitors = createVisitorStore(pool);
});
beforeEach(async () => {
  client = await plane.newAccount();
});
afterAll(async () => {
  await pool.end();
  await plane.stop();
});

const who = (id: string): string => `/visitors/${encodeURIComponent(id)}`;

async function touch(claim: Partial<VisitorClaim>, given = {}, at = Date.now()): Promise<VisitorOutcome | undefined> {
  const full = { userId: undefined, externalIds: [], emails: [], anonymousId: undefined, ...claim };
  const { accountId } = client;
  const { outcomes } = await visitors.resolve([
    { accountId, claim: full, receivedAtMs: at, given: [given], sentWith: 'server' },
  ]);
  return outcomes[0];
}

async function addEvent(id: string, visitorId: string): Promise<void> {
  await pool.query(
    `insert into recent_events (account_id, id, time, received_at, source_id, name, visitor_id, test, body)
      values ($1, $2, now(), now(), 's', 'Signup', $3, false, '{}')`,
    [client.accountId, id, visitorId],
  );
  await pool.query("insert into event_outcomes values ($1, $2, 'd', 'delivered', null, 1, now())", [
    client.accountId,
    id,
  ]);
}

async function rowsLeft(table: 'recent_events' | 'event_outcomes'): Promise<number> {
  return (await pool.query(`select 1 from ${table} where account_id = $1`, [client.accountId])).rowCount ?? 0;
}

test('visitors: a visitor is found by each of its ids, always in the same shape', async () => {
  const claim = { userId: 'u1', externalIds: ['customer 1'], emails: ['ann@example.com'] };
  await touch(claim, { first_name: 'Ann', custom_properties: { a: 1 } });
  await addEvent('e1', 'u1');
  const wanted = {
    id: 'u1',
    properties: { first_name: 'Ann', custom_properties: { a: 1 } },
    externalIds: ['customer 1'],
    emails: ['ann@example.com'],
    aliases: [],
    recentEventCount: 1,
  };
  for (const query of ['userId=u1', 'externalId=customer%201', 'email=%20Ann@Example.COM']) {
    const { status, body } = await client.get(`/visitors?${query}`);
    expect(status).toBe(200);
    expect(body.pagination).toEqual({ nextCursor: null, hasMore: false });
    expect(body.entities).toHaveLength(1);
    expect(body.entities[0]).toMatchObject(wanted);
  }
  expect((await client.get(who('u1'))).body).toMatchObject(wanted);
  expect((await client.get('/visitors?userId=missing')).body.entities).toEqual([]);
});

test.each(['', '?limit=5', '?userId=a&email=b', '?userId=a&externalId=b&email=c'])(
  'visitors: %j is refused, since exactly one key is asked for',
  async (query) => {
    const { status, body } = await client.get(`/visitors${query}`);
    expect(status).toBe(400);
    expect(body.error).toBe('exactly one of userId, externalId and email is required');
  },
);

test.each([
  ['an empty one', '?userId=', /userId must be/],
  ['one that is given twice', '?userId=a&userId=b', /userId must be given once/],
  ['a cursor of its own making', '?userId=a&cursor=abc', /cursor/],
])('visitors: refuses %s', async (_case, query, message) => {
  const { status, body } = await client.get(`/visitors${query}`);
  expect(status).toBe(400);
  expect(body.error).toMatch(message);
});

test('visitors: on a device that two people used, userId finds who signed in last; the first person keeps the device id', async () => {
  await touch({ userId: 'd', externalIds: ['alice'] }, { first_name: 'Alice' });
  await touch({ userId: 'd', externalIds: ['bob'] }, { first_name: 'Bob' });
  const find = async (query: string) => (await client.get(`/visitors?${query}`)).body.entities[0];
  expect(await find('userId=d')).toMatchObject({ externalIds: ['bob'], properties: { first_name: 'Bob' } });
  expect((await client.get(who('d'))).body).toMatchObject({ externalIds: ['alice'] });
  const bob = await find('externalId=bob');
  expect((await client.delete(who(bob.id))).status).toBe(200);
  // The device belongs to its own visitor again, without a trace of the erased visitor.
  expect(await find('userId=d')).toMatchObject({ externalIds: ['alice'] });
  const { rows } = await pool.query('select v::text as row from visitors v where account_id = $1 and id = $2', [
    client.accountId,
    'd',
  ]);
  expect(JSON.stringify(rows)).not.toContain(bob.id);
});

test('visitor: the stored data include the assignments to experiments and the rows in their results', async () => {
  await touch({ userId: 'tester', externalIds: ['customer 7'] });
  await touch({ userId: 'customer of another' });
  await pool.query(
    `insert into experiment_assignments (account_id, visitor_id, experiment_id, variant_id, assigned_at) values
      ($1, 'tester', 'e1', 'blue', '2026-01-02'), ($1, 'customer 7', 'e2', 'red', '2026-01-01'),
      ($1, 'customer of another', 'e1', 'red', '2026-01-01')`,
    [client.accountId],
  );
  await pool.query(
    `insert into experiment_visitors (account_id, visitor_id, experiment_id, variant_id, exposed_at)
      values ($1, 'tester', 'e1', 'blue', '2026-01-03')`,
    [client.accountId],
  );
  const none = { exposedAt: null, convertedAt: null };
  expect((await client.get(who('tester'))).body.experiments).toEqual([
    {
      ...none,
      experimentId: 'e1',
      variantId: 'blue',
      assignedAt: '2026-01-02T00:00:00.000Z',
      exposedAt: '2026-01-03T00:00:00.000Z',
    },
    { ...none, experimentId: 'e2', variantId: 'red', assignedAt: '2026-01-01T00:00:00.000Z' },
  ]);
});

test('visitor: an alias leads to the visitor it became, with the events of both', async () => {
  await touch({ userId: 'older', externalIds: ['x'] }, { city: 'Bern' });
  await touch({ userId: 'younger' }, { zip: '3000' });
  await addEvent('e1', 'younger');
  await touch({ userId: 'younger', externalIds: ['x'] });
  await addEvent('e2', 'older');
  const { body } = await client.get(who('younger'));
  expect(body).toMatchObject({
    id: 'older',
    aliases: ['younger'],
    properties: { city: 'Bern', zip: '3000' },
    recentEventCount: 2,
  });
});

test.each([
  ['slashes and dots', '../a/b/../c?d=e#f&g=%2F'],
  ['spaces and percent signs', ' 100% + '],
  ['other scripts', 'Žluťoučký kůň/بيت/家'],
  ['400 characters outside the basic plane', '💥'.repeat(400)],
  ['the name of another path', 'draft'],
])('visitor: an id of %s is read, listed and erased', async (_case, id) => {
  await touch({ userId: id }, { city: 'Bern' });
  expect((await client.get(who(id))).body).toMatchObject({ id, properties: { city: 'Bern' } });
  expect((await client.get(`/visitors?userId=${encodeURIComponent(id)}`)).body.entities).toHaveLength(1);
  expect((await client.delete(who(id))).body).toMatchObject({ deleted: true, ids: [id] });
  expect((await client.get(who(id))).status).toBe(404);
});

test('erase visitor: no trace of the visitor is left, late events do not bring it back, and a returning visitor is new', async () => {
  const claim = { userId: 'u1-canary', externalIds: ['x-canary'], emails: ['ann-canary@example.com'] };
  await touch({ userId: 'alias-canary' });
  await touch(claim, { first_name: 'Ann-canary' });
  await touch({ userId: 'alias-canary', externalIds: ['x-canary'] });
  await touch({ userId: 'other' }, { first_name: 'Bob' });
  const survivor: string = (await client.get(who('u1-canary'))).body.id;
  await addEvent('e1', 'u1-canary');
  await addEvent('e2', 'alias-canary');
  await addEvent('e3', 'other');

  const beganAt = Date.now();
  const { status, body } = await client.delete(who('u1-canary'));
  expect(status).toBe(200);
  expect(body).toMatchObject({ deleted: true, suppressed: false, recentEventCount: 2 });
  const erasedAt = Date.parse(body.erasedAt);
  expect(erasedAt).toBeGreaterThanOrEqual(beganAt);
  expect(erasedAt).toBeLessThanOrEqual(Date.now());
  expect(body.ids[0]).toBe(survivor);
  expect(body.ids.toSorted()).toEqual(['alias-canary', 'u1-canary']);
  expect(await rowsLeft('recent_events')).toBe(1);
  expect(await rowsLeft('event_outcomes')).toBe(1);

  for (const path of [who('u1-canary'), who('alias-canary')]) expect((await client.get(path)).status).toBe(404);
  for (const query of ['userId=u1-canary', 'externalId=x-canary', 'email=ann-canary@example.com']) {
    expect((await client.get(`/visitors?${query}`)).body.entities).toEqual([]);
  }
  const { externalIds, emails } = claim;
  for (const late of [claim, { userId: 'alias-canary' }, { externalIds }, { emails }]) {
    expect(await touch(late, { first_name: 'Ann-canary' }, erasedAt)).toEqual({ kind: 'erased' });
  }
  expect(await namedIn(pool, 'canary')).toEqual(['visitor_changes']);
  expect((await client.get(who('other'))).body).toMatchObject({ id: 'other', recentEventCount: 1 });
  expect((await client.delete(who('u1-canary'))).status).toBe(404);

  expect(await touch(claim, { city: 'Bern' }, erasedAt + 1)).toMatchObject({ kind: 'resolved', created: true });
  expect((await client.get(`/visitors?email=${emails[0]}`)).body.entities).toMatchObject([
    { id: 'u1-canary', properties: { city: 'Bern' }, aliases: [], recentEventCount: 0 },
  ]);
});

/** Names of the tables that contain a text anywhere. */
async function namedIn(db: Pool, text: string): Promise<readonly string[]> {
  const { rows: tables } = await db.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public' order by 1`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const { rowCount } = await db.query(
      `select from ${name} as t where t::text like '%' || $1 || '%' and ${notOfTwin('t')} limit 1`,
      [text],
    );
    if (rowCount === 1) found.push(name);
  }
  return found;
}

test.each([
  ['the query', '?suppress=true', undefined],
  ['the body', '', { suppress: true }],
])('erase visitor: suppress in %s drops later events that name the visitor, too', async (_where, query, body) => {
  await touch({ userId: 'u1', emails: ['ann@example.com'] });
  const answer = await client.call('DELETE', `${who('u1')}${query}`, body === undefined ? {} : { body });
  expect(answer.body).toMatchObject({ deleted: true, suppressed: true });
  const later = Date.parse(answer.body.erasedAt) + 1;
  for (const claim of [{ userId: 'u1' }, { userId: 'u2', emails: ['ann@example.com'] }]) {
    expect(await touch(claim, {}, later)).toEqual({ kind: 'erased' });
  }
  expect(await touch({ userId: 'u2' }, {}, later)).toMatchObject({ kind: 'resolved' });
  expect((await client.call('DELETE', who('u2'), { body: { supress: true } })).status).toBe(400);
});

test('erase visitor: the erasure is announced to all processes that send events, and refused if the log cannot store it', async () => {
  const erasures = followErasures({ connection: plane.log, onError: (error) => expect.unreachable(String(error)) });
  try {
    await touch({ userId: 'u1' });
    const { body } = await client.delete(who('u1'));
    const receivedAtMs = Date.parse(body.erasedAt);
    const isErased = (visitorId: string, atMs: number): boolean =>
      erasures.isErased(client.accountId, { visitorId, receivedAtMs: atMs });
    await expect.poll(() => isErased('u1', receivedAtMs)).toBe(true);
    await expect.poll(() => isErased('u1', receivedAtMs + 1)).toBe(false);
    expect(isErased('u2', receivedAtMs)).toBe(false);
  } finally {
    await erasures.stop();
  }
  await touch({ userId: 'u3' });
  const { jsm } = plane.log[logClient];
  const { config } = await jsm.streams.info(streams.erasures);
  await jsm.streams.update(streams.erasures, { ...config, max_msg_size: 1 });
  const refused = await client.delete(who('u3'));
  await jsm.streams.update(streams.erasures, config);
  expect([refused.status, refused.body.error]).toEqual([503, expect.stringContaining('nothing was erased')]);
  expect((await client.get(who('u3'))).status).toBe(200);
  expect((await client.delete(who('u3'))).status).toBe(200);
});

test('erase visitor: the erasure is audited without naming the visitor, and only if a visitor was erased', async () => {
  await touch({ userId: 'ann-canary' });
  await client.delete(who('ann-canary'));
  await client.delete(who('ann-canary'));
  const { body } = await client.get('/audit?action=visitor.erase');
  expect(body.entities).toHaveLength(1);
  expect(body.entities[0].entityId).toMatch(/^[0-9a-f]{64}$/);
  expect(JSON.stringify(body)).not.toContain('ann-canary');
});

test('erase visitor: waits for a concurrent writer of its events, and erases what the writer wrote', async () => {
  await touch({ userId: 'u1' });
  const writer = await pool.connect();
  await writer.query('begin');
  await holdForWriting(writer, [client.accountId]);
  const erasing = client.delete(who('u1'));
  await expect.poll(() => countWaitingForLocks(pool)).toBe(1);
  await writer.query(
    `insert into recent_events (account_id, id, time, received_at, source_id, name, visitor_id, test, body)
      values ($1, 'e1', now(), now(), 's', 'Signup', 'u1', false, '{}')`,
    [client.accountId],
  );
  await writer.query('commit');
  writer.release();
  expect((await erasing).body).toMatchObject({ deleted: true, recentEventCount: 1 });
  expect(await rowsLeft('recent_events')).toBe(0);
});

test('visitors: another account sees and erases nothing, and each operation needs its scope', async () => {
  await touch({ userId: 'u1', emails: ['ann@example.com'] });
  const other = await plane.newAccount();
  expect((await other.get(who('u1'))).status).toBe(404);
  expect((await other.get('/visitors?email=ann@example.com')).body.entities).toEqual([]);
  expect((await other.delete(who('u1'))).status).toBe(404);
  const reader = await plane.newKey(client, ['visitor:find']);
  expect((await reader.get(who('u1'))).status).toBe(200);
  expect((await reader.delete(who('u1'))).status).toBe(403);
  const eraser = await plane.newKey(client, ['visitor:delete']);
  expect((await eraser.get(who('u1'))).status).toBe(403);
  expect((await eraser.get('/visitors?userId=u1')).status).toBe(403);
  expect((await eraser.delete(who('u1'))).status).toBe(200);
});
