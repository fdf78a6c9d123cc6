import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { client as logClient } from '../../shared/nats/connection/client.ts';
import { followErasures } from '../../shared/nats/erasures/follow-erasures.ts';
import { streams } from '../../shared/nats/streams/topology.ts';
import { openTestPool } from '../../shared/testing/test-pool.ts';
import { createVisitorStore } from '../../shared/visitors/postgres-visitor-store.ts';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;
let pool: Pool;

beforeAll(async () => {
  plane = await startTestControlPlane();
  pool = openTestPool(plane.databaseUrl, 4);
});
afterAll(async () => {
  await pool.end();
  await plane.stop();
});

async function addVisitor({ accountId }: Client, userId: string): Promise<void> {
  const claim = { userId, externalIds: [`x-${userId}`], emails: [`${userId}@example.com`], anonymousId: undefined };
  await createVisitorStore(pool).resolve([
    { accountId, claim, receivedAtMs: Date.now(), given: [{ city: 'Bern' }], sentWith: 'server' },
  ]);
}

test('erasures: a record says when, by whom, why and how much was erased, but not whose data', async () => {
  const [client, other] = [await plane.newAccount(), await plane.newAccount()];
  for (const one of [client, other]) await addVisitor(one, 'ann-canary');
  await pool.query(
    `insert into recent_events (account_id, id, time, received_at, source_id, name, visitor_id, test, body)
      values ($1, 'e1', now(), now(), 's', 'Signup', 'ann-canary', false, '{}')`,
    [client.accountId],
  );
  const { body: answer } = await client.call('DELETE', '/visitors/ann-canary', {
    body: { suppress: true, reference: 'ticket 7' },
  });
  expect(answer).toMatchObject({ deleted: true, suppressed: true, ids: ['ann-canary'], recentEventCount: 1 });
  const wanted = {
    id: answer.erasureId,
    requestedAt: expect.any(String),
    erasedAt: answer.erasedAt,
    actorId: client.keyId,
    actorName: expect.any(String),
    reference: 'ticket 7',
    suppressed: true,
    counts: { visitors: 1, identifiers: 3, recentEvents: 1, experimentAssignments: 0, experimentVisitors: 0 },
    // No destination has to be asked, so no identifiers are kept.
    dueAt: null,
  };
  const one = await client.get(`/erasures/${answer.erasureId}`);
  expect([one.status, one.body]).toEqual([200, { ...wanted, destinations: [] }]);
  expect((await client.get('/erasures')).body.entities).toEqual([wanted]);
  const kept = await pool.query('select subject from erasure_records where id = $1', [answer.erasureId]);
  expect(kept.rows).toEqual([{ subject: null }]);
  expect(JSON.stringify(one.body)).not.toContain('canary');
  const { body: audit } = await client.get('/audit?action=visitor.erase');
  expect(audit.entities[0].details).toEqual({ suppressed: true, erasureId: answer.erasureId });

  expect((await other.get('/erasures')).body.entities).toEqual([]);
  for (const id of [answer.erasureId, randomUUID(), 'none']) {
    expect((await other.get(`/erasures/${id}`)).status).toBe(404);
  }
  expect((await other.get('/visitors/ann-canary')).status).toBe(200);
});

test('erasures: are listed newest first and page by page; an erasure that finds no visitor leaves no record', async () => {
  const client = await plane.newAccount();
  const erased: string[] = [];
  for (const id of ['a', 'b', 'c']) {
    await addVisitor(client, id);
    const { body } = await client.delete(`/visitors/${id}`);
    erased.unshift(body.erasureId);
    expect((await client.delete(`/visitors/${id}`)).status).toBe(404);
  }
  const first = await client.get('/erasures?limit=2');
  const rest = await client.get(`/erasures?limit=2&cursor=${first.body.pagination.nextCursor}`);
  const shown = [...first.body.entities, ...rest.body.entities] as { id: string; reference: string | null }[];
  expect(shown.map(({ id, reference }) => [id, reference])).toEqual(erased.map((id) => [id, null]));
  const tooLong = await client.call('DELETE', '/visitors/a', { body: { reference: 'x'.repeat(201) } });
  expect([tooLong.status, tooLong.body.error]).toEqual([400, expect.stringContaining('reference')]);
});

test('erasures: each operation needs its scope', async () => {
  const client = await plane.newAccount();
  await addVisitor(client, 'a');
  const { erasureId } = (await client.delete('/visitors/a')).body;
  const statuses = [];
  for (const scope of ['erasure:list', 'erasure:find', 'visitor:delete']) {
    const key = await plane.newKey(client, [scope]);
    statuses.push([(await key.get('/erasures')).status, (await key.get(`/erasures/${erasureId}`)).status]);
  }
  expect(statuses).toEqual([
    [200, 403],
    [403, 200],
    [403, 403],
  ]);
});

/** Restores a copy from before all erasures: the same stream, with the same key, without notices. */
async function emptyErasures(): Promise<void> {
  const { streams: ofLog } = plane.log[logClient].jsm;
  const { config: copy } = await ofLog.info(streams.erasures);
  await ofLog.delete(streams.erasures);
  await ofLog.add(copy);
}

test('erasures: visitors that a version without notices erased are announced, and their ids are not kept', async () => {
  const client = await plane.newAccount();
  const erasedAtMs = Date.now() - 60_000;
  await pool.query(
    `insert into erasure_notices (id, part, account_id, key_id, erased_at, visitors)
      values (gen_random_uuid(), 0, $1, '', $2, '{ann-canary,ann-alias-canary}')`,
    [client.accountId, new Date(erasedAtMs)],
  );
  await emptyErasures();
  const followed = followErasures({ connection: plane.log, onError: (error) => expect.unreachable(String(error)) });
  const isErased = (visitorId: string, receivedAtMs = erasedAtMs): boolean =>
    followed.isErased(client.accountId, { visitorId, receivedAtMs });
  try {
    await expect.poll(() => isErased('ann-alias-canary'), { timeout: 20_000 }).toBe(true);
    expect([isErased('ann-canary'), isErased('bob'), isErased('ann-canary', erasedAtMs + 1)]).toEqual([
      true,
      false,
      false,
    ]);
    const { rows } = await pool.query<{ row: string }>(
      'select n::text as row from erasure_notices n where account_id = $1',
      [client.accountId],
    );
    expect(rows).toEqual([{ row: expect.not.stringContaining('canary') }]);
  } finally {
    await followed.stop();
  }
});

test('erasures: a log restored from an older copy learns of the people erased since', async () => {
  const client = await plane.newAccount();
  await addVisitor(client, 'ann');
  const { jsm } = plane.log[logClient];
  const receivedAtMs = Date.now();
  expect((await client.delete('/visitors/ann')).status).toBe(200);
  await emptyErasures();
  const followed = followErasures({ connection: plane.log, onError: (error) => expect.unreachable(String(error)) });
  const isErased = (visitorId: string): boolean => followed.isErased(client.accountId, { visitorId, receivedAtMs });
  try {
    await expect.poll(() => isErased('ann'), { timeout: 20_000 }).toBe(true);
    expect(isErased('bob')).toBe(false);
    // What is received after the erasure is sent.
    const later = { visitorId: 'ann', receivedAtMs: Date.now() + 61_000 };
    expect(followed.isErased(client.accountId, later)).toBe(false);
    const { state } = await jsm.streams.info(streams.erasures);
    const kept = await pool.query('select from erasure_notices where account_id = $1', [client.accountId]);
    expect([kept.rowCount, state.messages > 0]).toEqual([1, true]);
  } finally {
    await followed.stop();
  }
});
