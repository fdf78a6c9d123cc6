import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openTestPool } from '../../shared/testing/test-pool.ts';
import { createVisitorStore } from '../../shared/visitors/postgres-visitor-store.ts';
import type { Client } from '../testing/client.ts';
import { hashedVisitor } from './record-audit.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

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

const body = {
  event_properties: { note: 'canary-event', total: 4711 },
  context: { ip: 'canary-context' },
  visitor: { id: 'v1', city: 'canary-visitor' },
};

/** An account with a visitor, an event of the visitor, and a destination. */
async function filled(): Promise<{ readonly client: Client; readonly destinationId: string }> {
  const client = await plane.newAccount();
  const { accountId } = client;
  const claim = { userId: 'v1', externalIds: ['canary-x'], emails: ['canary@example.com'], anonymousId: undefined };
  await createVisitorStore(pool).resolve([
    { accountId, claim, receivedAtMs: Date.now(), given: [{ city: 'canary-city' }], sentWith: 'server' },
  ]);
  await pool.query(
    `insert into recent_events (account_id, id, time, received_at, source_id, name, visitor_id, test, body)
      values ($1, 'e1', now(), now(), 's1', 'Signup', 'v1', false, $2)`,
    [accountId, JSON.stringify(body)],
  );
  const settings = { httpDestinationUrl: 'https://example.com/' };
  const { body: destination } = await client.post('/destinations', { type: 'HTTPDestination', settings });
  const rule = {
    destinationId: destination.id,
    priority: 9,
    action: 'send',
    eventName: '{{visitor.city}}',
    mappings: [],
  };
  expect((await client.post('/collections/mappings', rule)).status).toBe(200);
  await client.publish();
  return { client, destinationId: destination.id as string };
}

type Entry = { readonly action: string; readonly entityId: string | null; readonly details: object };

const reads = ['visitor.read', 'event.list', 'event.read', 'event.stream', 'dead-letter.list', 'quarantine.list'];

async function readsBy({ keyId }: Client, owner: Client): Promise<Entry[]> {
  const { body: answer } = await owner.get(`/audit?actorId=${keyId}&limit=100`);
  return (answer.entities as Entry[]).filter(({ action }) => reads.includes(action));
}

/** Paths of all reads of personal data. */
const paths = (destinationId: string): readonly string[] => [
  '/events?visitorId=v1',
  '/events/e1',
  `/events/e1/ways?destinationId=${destinationId}`,
  '/visitors/v1',
  '/visitors?userId=v1',
  '/visitors/v1/merges',
  `/destinations/${destinationId}/dead-letters`,
  '/quarantine',
];

async function firstOfStream(client: Client): Promise<string> {
  const answer = await fetch(`${plane.baseUrl}/rest/v1/events/stream`, {
    headers: { authorization: `Bearer ${client.key}` },
  });
  const reader = answer.body?.getReader();
  let text = '';
  while (!text.includes('Signup')) text += Buffer.from((await reader?.read())?.value ?? []).toString();
  await reader?.cancel();
  return text;
}

test('audit of reads: each read of personal data is one entry with the reader, the data and the scope, but without a value', async () => {
  const { client, destinationId } = await filled();
  const scopes = ['event:list', 'visitor:find', 'destination:find', 'quarantine:list', 'pii:read'];
  const reader = await plane.newKey(client, scopes);
  for (const path of paths(destinationId)) expect([path, (await reader.get(path)).status]).toEqual([path, 200]);
  await firstOfStream(reader);
  const entries = await readsBy(reader, client);
  const seen = entries.map(({ action, details }) => [action, (details as { scope: string }).scope]);
  expect(seen.toReversed()).toEqual([
    ['event.list', 'event:list'],
    ['event.read', 'event:list'],
    ['event.read', 'event:list'],
    ['visitor.read', 'visitor:find'],
    ['visitor.read', 'visitor:find'],
    ['visitor.read', 'visitor:find'],
    ['dead-letter.list', 'destination:find'],
    ['quarantine.list', 'quarantine:list'],
    ['event.stream', 'event:list'],
  ]);
  expect(entries.find(({ action }) => action === 'event.list')?.details).toEqual({
    scope: 'event:list',
    filters: ['visitorId'],
    rows: 1,
    masked: false,
  });
  expect(JSON.stringify(entries)).not.toMatch(/canary|"v1"/);
  // The visitor's id finds all reads of that visitor.
  const { body: ofVisitor } = await client.get(`/audit?visitorId=v1&actorId=${reader.keyId}`);
  expect(ofVisitor.entities).toHaveLength(4);
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  expect((await client.get(`/audit?actorId=${reader.keyId}&from=${tomorrow}`)).body.entities).toEqual([]);
  expect((await client.get(`/audit?actorId=${reader.keyId}&to=${tomorrow}`)).body.entities).toHaveLength(9);
});

test('audit of reads: a search of the log by visitor is one of the reads of that visitor, with a keyed hash of its id', async () => {
  const { client } = await filled();
  const answer = await fetch(`${plane.baseUrl}/rest/v1/events/search?visitorId=v1`, {
    headers: { authorization: `Bearer ${client.key}` },
  });
  expect(answer.status).toBe(200);
  await answer.body?.cancel();
  const search = { action: 'event.search', entityId: expect.not.stringMatching(hashedVisitor('v1')) };
  expect((await client.get('/audit?action=event.search')).body.entities).toMatchObject([search]);
  expect((await client.get('/audit?visitorId=v1')).body.entities).toMatchObject([search]);
});

test('audit of reads: repeated reads of a page with one key are one entry, and another key gets its own entry', async () => {
  const { client } = await filled();
  const [one, two] = [await plane.newKey(client, ['event:list']), await plane.newKey(client, ['event:list'])];
  for (let time = 0; time < 5; time += 1) await one.get('/events/e1');
  await two.get('/events/e1');
  await one.get('/events');
  expect(await readsBy(one, client)).toHaveLength(2);
  expect(await readsBy(two, client)).toHaveLength(1);
});

test('audit of reads: another value of a filter is another read, and the further pages of a list are one', async () => {
  const { client } = await filled();
  await pool.query(
    `insert into recent_events (account_id, id, time, received_at, source_id, name, visitor_id, test, body)
      select account_id, id || n, time, received_at, source_id, name, visitor_id, test, body
      from recent_events, generate_series(1, 2) n where account_id = $1`,
    [client.accountId],
  );
  const reader = await plane.newKey(client, ['event:list', 'pii:read']);
  for (const value of ['one-canary', 'two-canary', 'one-canary'])
    await reader.get(`/events?property=note&value=${value}`);
  let cursor = '';
  for (let page = 0; page < 3; page += 1) {
    const { body: answer } = await reader.get(`/events?limit=1${cursor}`);
    cursor = `&cursor=${answer.pagination.nextCursor}`;
  }
  const entries = await readsBy(reader, client);
  expect(entries.map(({ details }) => (details as { filters: string[] }).filters).toReversed()).toEqual([
    ['property', 'value'],
    ['property', 'value'],
    ['limit'],
    ['cursor', 'limit'],
  ]);
  expect(JSON.stringify(entries)).not.toContain('canary');
});

test('audit of reads: the reads and the erasure of a merged visitor are found by each of its ids, as are reads before the merge', async () => {
  const { client } = await filled();
  await client.get('/events?visitorId=alias');
  const alias = `insert into visitors (account_id, id, merged_into) values ($1, 'alias', 'v1')`;
  await pool.query(alias, [client.accountId]);
  await client.get('/events?visitorId=alias&limit=1');
  const search = await fetch(`${plane.baseUrl}/rest/v1/events/search?visitorId=alias`, {
    headers: { authorization: `Bearer ${client.key}` },
  });
  await search.body?.cancel();
  const actionsOf = async (id: string): Promise<readonly string[]> =>
    ((await client.get(`/audit?visitorId=${id}`)).body.entities as Entry[]).map(({ action }) => action);
  const reads = ['event.search', 'event.list', 'event.list'];
  expect([await actionsOf('v1'), await actionsOf('alias')]).toEqual([reads, reads]);
  expect((await client.delete('/visitors/alias')).status).toBe(200);
  expect([await actionsOf('v1'), await actionsOf('alias')]).toEqual([
    ['visitor.erase', 'event.search', 'event.list'],
    ['visitor.erase', 'event.list'],
  ]);
});

test('audit of reads: data is not shown if the read cannot be recorded', async () => {
  const { client, destinationId } = await filled();
  await pool.query(`create function refuse_reads() returns trigger as $$
    begin raise exception 'no room for the audit'; end $$ language plpgsql`);
  await pool.query(`create trigger refuse_reads before insert on audit_entries for each row
    when (new.account_id = '${client.accountId}') execute function refuse_reads()`);
  onTestFinished(async () => {
    await pool.query('drop trigger refuse_reads on audit_entries');
  });
  for (const path of [...paths(destinationId), '/events/stream']) {
    const { status, body: answer } = await client.get(path);
    expect([path, status >= 500]).toEqual([path, true]);
    expect(JSON.stringify(answer)).not.toContain('canary');
  }
});

test('masking: if the account masks, a key without pii:read sees no value on any route and cannot look a person up', async () => {
  const { client, destinationId } = await filled();
  const scopes = ['event:list', 'visitor:find', 'destination:find', 'quarantine:list', 'version:find', 'mappings:list'];
  const masked = await plane.newKey(client, scopes);
  const full = await plane.newKey(client, [...scopes, 'pii:read']);
  const before = await plane.newKey(client, scopes);
  expect(JSON.stringify((await before.get('/events/e1')).body)).toContain('canary-event');
  expect((await before.get('/visitors?externalId=canary-x')).status).toBe(200);
  expect((await client.patch('/account', { masksPersonalData: true })).body).toMatchObject({ masksPersonalData: true });
  for (const path of paths(destinationId)) {
    const [hidden, shown] = [await masked.get(path), await full.get(path)];
    expect([path, hidden.status]).toEqual([path, 200]);
    expect([path, JSON.stringify(hidden.body)]).toEqual([path, expect.not.stringMatching(/canary|4711/)]);
    // Masked replies have the same member names, types and numbers of items.
    expect([path, shapeOf(hidden.body)]).toEqual([path, shapeOf(shown.body)]);
  }
  expect(JSON.stringify((await full.get('/events/e1')).body)).toContain('canary-event');
  expect(await firstOfStream(masked)).not.toMatch(/canary|4711/);
  for (const query of ['email=canary@example.com', 'externalId=canary-x']) {
    expect([(await masked.get(`/visitors?${query}`)).status, (await full.get(`/visitors?${query}`)).status]).toEqual([
      403, 200,
    ]);
  }
  const [entry] = await readsBy(masked, client);
  expect(entry?.details).toMatchObject({ masked: true });
});

test('masking: a key without pii:read cannot test stored values against a value it chooses or against rules that are not live', async () => {
  const { client, destinationId } = await filled();
  const scopes = [
    'event:list',
    'visitor:find',
    'destination:find',
    'version:find',
    'mappings:create',
    'suppression:list',
  ];
  const masked = await plane.newKey(client, scopes);
  const full = await plane.newKey(client, [...scopes, 'pii:read']);
  const logic = { condition: { property: 'visitor.city', operator: 'Is', value: 'canary-visitor' } };
  const fields = { destinationId, priority: 1, action: 'stop', logic, mappings: [] };
  const guess = (rule: object) => ({ mappings: { id: 'guess', fields: rule } });
  const asNamed = { ...fields, logic: { condition: { property: 'event.event', operator: 'Is', value: 'Signup' } } };
  const asked: readonly (readonly [string, object?])[] = [
    ['/events/e1/ways', guess(fields)],
    // The result of a rule would reveal the value.
    ['/events/e1/ways', guess({ ...asNamed, action: 'send', mappings: [], eventName: '{{visitor.city}}' })],
    ['/events/e1/ways', { destinationId }],
    ['/events/e1/ways?rules=draft'],
    ['/versions/draft/impact'],
    ['/versions/draft/impact?samples=true'],
    ['/tracking-plan/try', {}],
    ['/tracking-plan/try', { rules: 'draft' }],
    ['/rules/matches', { logic }],
    ['/events?property=note&value=canary-event'],
    ['/events/summary?property=note'],
    ['/suppressions?email=canary@example.com'],
    ['/suppressions?externalId=canary-x'],
    ['/events/search?property=note&value=canary-event'],
  ];
  const ask = async (reader: Client, [path, given]: (typeof asked)[number]): Promise<number> =>
    (given === undefined ? await reader.get(path) : await reader.post(path, given)).status;
  // If the account does not mask personal data, these requests are allowed.
  for (const one of asked.slice(0, -1)) expect([one, await ask(masked, one)]).toEqual([one, 200]);
  await client.patch('/account', { masksPersonalData: true });
  for (const one of asked) expect([one, await ask(masked, one)]).toEqual([one, 403]);
  for (const one of asked.slice(0, -1)) expect([one, await ask(full, one)]).toEqual([one, 200]);
  // Without `pii:read`, a key may still make requests that use only the live rules and no value of its own.
  const allowed: typeof asked = [
    ['/events/e1/ways?rules=live'],
    ['/events/e1/ways'],
    ['/tracking-plan/try', { rules: 'live' }],
    ['/rules/matches', { logic: asNamed.logic }],
    ['/events?name=sign'],
    ['/suppressions'],
  ];
  for (const one of allowed) expect([one, await ask(masked, one)]).toEqual([one, 200]);
});

function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shapeOf(one)]));
}
