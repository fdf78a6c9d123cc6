import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { decodeEnvelopes } from '../../shared/contracts/events/envelope.ts';
import { quarantineHeaders } from '../../shared/contracts/events/quarantine.ts';
import { ingestSubject, quarantineSubject } from '../../shared/contracts/subjects.ts';
import { connectLog } from '../../shared/nats/connection/connection.ts';
import { readNext } from '../../shared/nats/messages/subject-log.ts';
import { publish } from '../../shared/nats/publish/publisher.ts';
import { readQuarantine, releaseQuarantined } from '../../shared/nats/quarantine/quarantine.ts';
import { readStreamState } from '../../shared/nats/streams/stream-progress.ts';
import { streams } from '../../shared/nats/streams/topology.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { asLogUser } from '../../shared/testing/as-log-user.ts';
import { openLogGate } from '../../shared/testing/log-gate.ts';
import { openTestPool } from '../../shared/testing/test-pool.ts';
import { holdForWriting } from '../../shared/visitors/erasure-lock.ts';
import { createVisitorStore } from '../../shared/visitors/postgres-visitor-store.ts';
import type { Client } from '../testing/client.ts';
import { createQuarantineService } from './quarantine-service.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;
let client: Client;
let other: Client;

beforeAll(async () => {
  plane = await startTestControlPlane();
});
beforeEach(async () => {
  [client, other] = [await plane.newAccount(), await plane.newAccount()];
});
afterAll(() => plane.stop());

const receivedAt = Date.parse('2026-03-01T00:00:00Z');

/** Quarantines an event as a resolver does. */
async function hold(
  of: Client,
  id: string,
  body: JsonObject = {},
  { rule = 'rule-1', partition = 0, at = receivedAt }: { rule?: string; partition?: number; at?: number } = {},
): Promise<void> {
  const line = {
    v: 1,
    account: of.accountId,
    source: 's',
    at,
    kind: 'track',
    id,
    body: { event: 'E', ...body },
  };
  await publish(plane.log, quarantineSubject(of.accountId, rule, partition), Buffer.from(JSON.stringify(line)), {
    msgId: randomUUID(),
    timeoutMs: 30_000,
    headers: { [quarantineHeaders.rules]: `${rule},rule-x` },
  });
}

const eventsOf = async (of: Client, query = ''): Promise<unknown[]> => {
  const { body } = await of.get(`/quarantine${query}`);
  return (body.entities as { eventId: string }[]).map(({ eventId }) => eventId);
};

test('quarantine: is listed in order, without the content of events, and filtered by rule, time and account', async () => {
  await hold(client, 'a', { eventProperties: { ssn: 'canary' } });
  await hold(client, 'b', {}, { rule: 'rule-2' });
  await hold(client, 'c');
  await hold(other, 'a');
  const { body, status } = await client.get('/quarantine?limit=2');
  expect(status).toBe(200);
  expect(JSON.stringify(body)).not.toContain('canary');
  expect(body.entities[0]).toMatchObject({
    eventId: 'a',
    event: 'E',
    sourceId: 's',
    receivedAt: '2026-03-01T00:00:00.000Z',
    rules: ['rule-1', 'rule-x'],
    releases: 0,
  });
  expect(await eventsOf(client, `?limit=2&cursor=${body.pagination.nextCursor}`)).toEqual(['c']);
  expect(await eventsOf(client, '?rule=rule-2')).toEqual(['b']);
  expect(await eventsOf(client, `?to=${body.entities[0].quarantinedAt}`)).toEqual([]);
  expect(await eventsOf(other)).toEqual(['a']);
  expect((await client.get('/quarantine?rule=a.*')).status).toBe(400);
});

test('quarantine: released events are back in the log in order, deleted events are gone, and both actions are audited', async () => {
  for (const id of ['a', 'b', 'c']) await hold(client, id, { eventProperties: { total: id } });
  await hold(client, 'd', {}, { rule: 'rule-2' });
  await hold(other, 'a');
  const { lastSeq } = await readStreamState(plane.log, streams.ingest);
  const released = await client.post('/quarantine/release', { rule: 'rule-1' });
  expect(released.body).toEqual({ released: 3, pagination: { nextCursor: null, hasMore: false } });
  const frame = await readNext(plane.log, streams.ingest, ingestSubject(0), lastSeq + 1);
  const envelopes = decodeEnvelopes(frame?.data ?? new Uint8Array());
  expect(envelopes.map(({ id, at, release, body }) => [id, at, release, body.eventProperties])).toEqual(
    ['a', 'b', 'c'].map((id) => [id, receivedAt, 1, { total: id }]),
  );
  const [{ id }] = (await client.get('/quarantine')).body.entities as [{ id: string }];
  expect((await client.post('/quarantine/delete', { ids: [id] })).body.deleted).toBe(1);
  expect([await eventsOf(client), await eventsOf(other)]).toEqual([[], ['a']]);
  const audit = (await client.get('/audit')).body.entities as { action: string }[];
  expect(audit.map(({ action }) => action)).toEqual(
    expect.arrayContaining(['quarantine.release', 'quarantine.delete']),
  );
});

test('order of effects: a released event leaves the quarantine only once the log has it', async () => {
  for (const id of ['a', 'b']) await hold(client, id);
  const gate = await openLogGate(plane.nats.url);
  const connection = await connectLog({ url: asLogUser(gate.url, 'controlPlane'), name: 'gated' });
  const bounds = { eventsMax: 10, bytesMax: 1024 ** 2 };
  const { events } = await readQuarantine(connection, { accountId: client.accountId, filter: {} }, bounds);
  const refused = gate.refuse(ingestSubject(0));
  await expect(releaseQuarantined(connection, events)).rejects.toMatchObject({ reason: 'full' });
  expect(await eventsOf(client)).toEqual(['a', 'b']);
  refused.release();
  await releaseQuarantined(connection, events);
  expect(await eventsOf(client)).toEqual([]);
  await connection.close();
  await gate.close();
});

test('quarantine: a release that fails after its first events reports how many it released', async () => {
  await hold(client, 'a');
  await hold(client, 'b', {}, { partition: 1 });
  const gate = await openLogGate(plane.nats.url);
  const connection = await connectLog({ url: asLogUser(gate.url, 'controlPlane'), name: 'gated' });
  const pool = openTestPool(plane.databaseUrl, 1);
  const service = createQuarantineService(connection, pool);
  const refused = gate.refuse(ingestSubject(1));
  expect(await service.releaseRule(client.accountId, 'rule-1')).toEqual({ released: 1, isComplete: false });
  await expect(service.releaseRule(client.accountId, 'rule-1')).rejects.toMatchObject({ status: 503 });
  expect(await eventsOf(client)).toEqual(['b']);
  refused.release();
  expect(await service.releaseRule(client.accountId, 'rule-1')).toEqual({ released: 1, isComplete: true });
  await pool.end();
  await connection.close();
  await gate.close();
});

test('quarantine: an erasure deletes the events of the person under each identifier, and no other events', async () => {
  const pool = openTestPool(plane.databaseUrl, 2);
  const claim = { userId: 'device', externalIds: ['ann'], emails: ['ann@example.com'], anonymousId: undefined };
  const [outcome] = (
    await createVisitorStore(pool).resolve([
      { accountId: client.accountId, claim, receivedAtMs: receivedAt, given: [{}], sentWith: 'server' },
    ])
  ).outcomes;
  await pool.end();
  await hold(client, 'by-external-id', { externalId: 'ann' });
  await hold(client, 'by-email', { userProperties: { email: ' Ann@Example.com ' } });
  await hold(client, 'of-another', { externalId: 'bob' });
  await hold(other, 'by-external-id', { externalId: 'ann' });
  const id = outcome?.kind === 'resolved' ? outcome.id : '';
  expect((await client.delete(`/visitors/${id}`)).status).toBe(200);
  expect([await eventsOf(client), await eventsOf(other)]).toEqual([['of-another'], ['by-external-id']]);
});

test('quarantine: an erasure deletes the events of a device whose externalId is a placeholder or blocked', async () => {
  const pool = openTestPool(plane.databaseUrl, 2);
  onTestFinished(() => pool.end());
  const claim = { userId: 'device', externalIds: [], emails: [], anonymousId: undefined };
  await createVisitorStore(pool).resolve([
    { accountId: client.accountId, claim, receivedAtMs: receivedAt, given: [{}], sentWith: 'server' },
  ]);
  expect((await client.patch('/account', { identity: { blockedValues: ['House'] } })).status).toBe(200);
  await hold(client, 'placeholder', { userId: 'device', externalId: 'null' });
  await hold(client, 'blocked', { userId: 'device', userProperties: { external_id: ' [HOUSE] ' } });
  await hold(client, 'person', { userId: 'device', externalId: 'ann' });
  expect((await client.delete('/visitors/device')).status).toBe(200);
  expect(await eventsOf(client)).toEqual(['person']);
});

test('quarantine: an erasure also deletes what a resolver put there before it had read the erasure, but no later event', async () => {
  const pool = openTestPool(plane.databaseUrl, 2);
  onTestFinished(() => pool.end());
  const claim = { userId: undefined, externalIds: ['ann'], emails: [], anonymousId: undefined };
  const touch = {
    accountId: client.accountId,
    claim,
    receivedAtMs: receivedAt,
    given: [{}],
    sentWith: 'server' as const,
  };
  const [outcome] = (await createVisitorStore(pool).resolve([touch])).outcomes;
  // The erasure is committed, and waits before it gets its final time.
  await pool.query(`create function wait_for_test() returns trigger language plpgsql as
    'begin perform pg_advisory_xact_lock(77); return new; end'`);
  await pool.query('create trigger wait before update on erasures for each row execute function wait_for_test()');
  const holder = await pool.connect();
  await holder.query('select pg_advisory_lock(77)');
  const answer = client.delete(`/visitors/${outcome?.kind === 'resolved' ? outcome.id : ''}`);
  const waiting = `select count(*)::int as count from pg_locks where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())`;
  await expect.poll(async () => (await pool.query<{ count: number }>(waiting)).rows[0]?.count).toBe(1);
  await hold(client, 'waited', { externalId: 'ann' });
  await hold(client, 'later', { externalId: 'ann' }, { at: Date.now() + 3_600_000 });
  await holder.query('select pg_advisory_unlock(77)');
  holder.release();
  expect((await answer).status).toBe(200);
  await pool.query('drop trigger wait on erasures');
  expect(await eventsOf(client)).toEqual(['later']);
});

test('quarantine: erasures on every connection at once succeed, and no quarantined event of the people is shown', async () => {
  const pool = openTestPool(plane.databaseUrl, 2);
  onTestFinished(() => pool.end());
  const people: { readonly of: Client; readonly id: string }[] = [];
  for (const of of [client, client, other, other]) {
    const externalId = `person-${people.length}`;
    const claim = { userId: undefined, externalIds: [externalId], emails: [], anonymousId: undefined };
    const touch = {
      accountId: of.accountId,
      claim,
      receivedAtMs: receivedAt,
      given: [{}],
      sentWith: 'server' as const,
    };
    const [outcome] = (await createVisitorStore(pool).resolve([touch])).outcomes;
    people.push({ of, id: outcome?.kind === 'resolved' ? outcome.id : '' });
    await hold(of, externalId, { externalId });
    await pool.query(
      `insert into recent_events (account_id, id, time, received_at, source_id, name, visitor_id, test, body, plan)
        values ($1, $2, now(), now(), 's', 'E', '', false, '{}', '{"outcome": "quarantined", "rules": []}')`,
      [of.accountId, externalId],
    );
  }
  const writer = await pool.connect();
  await writer.query('begin');
  await holdForWriting(writer, [client.accountId, other.accountId]);
  const answers = Promise.all(people.map(({ of, id }) => of.delete(`/visitors/${id}`)));
  const waiting = `select count(*)::int as count from pg_locks where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())`;
  await expect.poll(async () => (await pool.query<{ count: number }>(waiting)).rows[0]?.count).toBe(4);
  await writer.query('commit');
  writer.release();
  expect((await answers).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  for (const of of [client, other]) {
    expect([await eventsOf(of), (await of.get('/events')).body.entities]).toEqual([[], []]);
  }
});

test('quarantine: one call publishes the fixed rule and releases the events it had held, once every process runs the rule', async () => {
  const rule = await client.post('/collections/dataGovernanceRules', {
    name: 'No cards',
    type: 'Forbidden',
    property: 'event_properties.card',
    action: 'Quarantine',
  });
  const { id } = rule.body;
  expect((await client.post('/versions', { publish: true })).status).toBe(200);
  for (const held of ['a', 'b']) await hold(client, held, {}, { rule: id });
  await hold(client, 'c', {}, { rule: 'other-rule' });
  const pool = openTestPool(plane.databaseUrl, 2);
  for (const held of ['a', 'c']) {
    await pool.query(
      `insert into recent_events (account_id, id, time, received_at, source_id, name, visitor_id, test, body, plan)
        values ($1, $2, now(), now(), 's', 'E', '', false, '{}', '{"outcome": "quarantined", "rules": []}')`,
      [client.accountId, held],
    );
  }
  await client.patch(`/collections/dataGovernanceRules/${id}`, { action: 'Omit' });
  const narrow = await plane.newKey(client, ['version:publish', 'version:create']);
  const refused = await narrow.post('/versions', { publish: true, releaseQuarantine: [id] });
  expect([refused.status, refused.body.error]).toEqual([403, 'the API key lacks the scope quarantine:release']);
  expect((await client.post('/versions', { publish: false, releaseQuarantine: [id] })).status).toBe(400);
  const { body, status } = await client.post('/versions', { publish: true, releaseQuarantine: [id] });
  expect([status, body.quarantineReleased]).toEqual([200, [{ rule: id, released: 2, isComplete: true }]]);
  expect(await eventsOf(client)).toEqual(['c']);
  const { rows } = await pool.query('select id from recent_events where account_id = $1', [client.accountId]);
  await pool.end();
  expect(rows).toEqual([{ id: 'c' }]);
  // Publishing the same version again changes nothing but still releases.
  await hold(client, 'd', {}, { rule: id });
  const again = await client.post(`/versions/${body.id}/publish`, { releaseQuarantine: [id, 'other-rule'] });
  expect(again.body.quarantineReleased).toEqual([
    { rule: id, released: 1, isComplete: true },
    { rule: 'other-rule', released: 1, isComplete: true },
  ]);
});
