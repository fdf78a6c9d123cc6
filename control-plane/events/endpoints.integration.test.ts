import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createVisitorStore } from '../../shared/visitors/postgres-visitor-store.ts';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';
import { openTestPool } from '../../shared/testing/test-pool.ts';

let plane: TestControlPlane;
let pool: Pool;
let client: Client;

beforeAll(async () => {
  plane = await startTestControlPlane();
  pool = openTestPool(plane.databaseUrl, 4);
});
beforeEach(async () => {
  client = await plane.newAccount(['event:list', 'destination:find', 'pii:read']);
});
afterAll(async () => {
  await pool.end();
  await plane.stop();
});

type Changes = {
  readonly timeMs?: number;
  readonly sourceId?: string;
  readonly name?: string;
  readonly visitorId?: string;
  readonly test?: boolean;
};

const nowMs = 1_700_000_000_000;

async function addEvent(id: string, changes: Changes = {}, accountId = client.accountId): Promise<void> {
  const { timeMs = nowMs, sourceId = 's1', name = 'Signup', visitorId = 'v1', test = false } = changes;
  await pool.query(
    `insert into recent_events
      (account_id, id, time, received_at, source_id, name, visitor_id, test, version_number, sample_of, body)
      values ($1, $2, $3, $4, $5, $6, $7, $8, 4, 1, $9)`,
    [
      accountId,
      id,
      new Date(timeMs),
      new Date(nowMs + 1),
      sourceId,
      name,
      visitorId,
      test,
      { event_properties: { plan: 'free' }, context: { sid: 'x' }, visitor: { id: visitorId } },
    ],
  );
}

const list = async (query = ''): Promise<string[]> => {
  const { status, body } = await client.get(`/events${query}`);
  expect(status).toBe(200);
  return body.entities.map((entity: { id: string }) => entity.id);
};

test('list events: shows an event with its outcomes', async () => {
  await addEvent('e1', { test: true });
  await pool.query(
    `insert into event_outcomes (account_id, event_id, destination_id, outcome, reason, attempts, at, version_number, consent, answer, exchange) values
      ($1, 'e1', 'd2', 'rejected', 'http_400', 3, '2023-11-14T22:13:20.500Z', null, null, $3, $4),
      ($1, 'e1', 'd1', 'delivered', null, 1, '2023-11-14T22:13:21Z', 5, null, null, null),
      ($1, 'e1', 'd3', 'stopped', 'consent: ads', 0, '2023-11-14T22:13:22Z', 5, $2, null, null)`,
    [
      client.accountId,
      JSON.stringify([
        { purpose: 'ads', isGranted: false, layer: 'default', detail: 'US-CA' },
        { purpose: 'mail', isGranted: true, layer: 'event' },
      ]),
      JSON.stringify({ status: 400, code: '100/7', message: 'no email' }),
      JSON.stringify(exchange),
    ],
  );
  const { body } = await client.get('/events');
  expect(body).toEqual({
    entities: [
      {
        id: 'e1',
        event: 'Signup',
        time: nowMs,
        receivedAt: new Date(nowMs + 1).toISOString(),
        sourceId: 's1',
        visitorId: 'v1',
        test: true,
        versionNumber: 4,
        sampleOf: 1,
        eventProperties: { plan: 'free' },
        context: { sid: 'x' },
        visitor: { id: 'v1' },
        truncated: false,
        plan: null,
        outcomes: [
          {
            destinationId: 'd1',
            outcome: 'delivered',
            reason: null,
            attempts: 1,
            versionNumber: 5,
            consent: null,
            error: null,
            at: '2023-11-14T22:13:21.000Z',
          },
          {
            destinationId: 'd2',
            outcome: 'rejected',
            reason: 'http_400',
            attempts: 3,
            versionNumber: null,
            consent: null,
            error: { status: 400, code: '100/7', message: 'no email' },
            at: '2023-11-14T22:13:20.500Z',
          },
          {
            destinationId: 'd3',
            outcome: 'stopped',
            reason: 'consent: ads',
            attempts: 0,
            versionNumber: 5,
            consent: [
              { purpose: 'ads', isGranted: false, layer: 'default', detail: 'US-CA' },
              { purpose: 'mail', isGranted: true, layer: 'event', detail: null },
            ],
            error: null,
            at: '2023-11-14T22:13:22.000Z',
          },
        ],
      },
    ],
    pagination: { nextCursor: null, hasMore: false },
  });
  const { body: exchanges } = await client.get('/events/e1/exchanges');
  const { code: _code, message: _message, ...answer } = exchange.answer;
  expect(exchanges.entities).toEqual([
    {
      destinationId: 'd2',
      exchange: { request: { ...exchange.request, isCut: true }, answer: { ...answer, isCut: false } },
    },
  ]);
});

const exchange = {
  request: {
    method: 'POST',
    url: 'https://example.com/',
    headers: { a: 'b' },
    body: 'ann@exa',
    isCut: true,
    events: 1,
  },
  answer: {
    status: 400,
    code: '100/7',
    message: 'no email',
    headers: { 'x-request-id': 'r' },
    body: 'no email of ann@example.com',
  },
} as const;

test('event exchanges: need the scope of destinations, are hidden from other accounts, and are masked if the account masks', async () => {
  await addEvent('e1');
  await pool.query(
    `insert into event_outcomes (account_id, event_id, destination_id, outcome, attempts, at, exchange)
      values ($1, 'e1', 'd1', 'rejected', 1, now(), $2)`,
    [client.accountId, JSON.stringify(exchange)],
  );
  const limited = await plane.newKey(client, ['event:list']);
  expect((await limited.get('/events/e1/exchanges')).status).toBe(403);
  const stranger = await plane.newAccount(['destination:find']);
  expect((await stranger.get('/events/e1/exchanges')).status).toBe(404);
  await pool.query('update accounts set masks_personal_data = true where id = $1', [client.accountId]);
  const masked = await plane.newKey(client, ['destination:find']);
  expect(JSON.stringify((await masked.get('/events/e1/exchanges')).body)).not.toMatch(/ann@/);
  expect(JSON.stringify((await client.get('/events/e1/exchanges')).body)).toMatch(/ann@/);
});

test('list events: are ordered by event time, newest first, whenever the events were sent', async () => {
  await addEvent('now');
  await addEvent('backfilled', { timeMs: nowMs - 3 * 86_400_000 });
  await addEvent('ahead', { timeMs: nowMs + 60_000 });
  await addEvent('between', { timeMs: nowMs - 1 });
  expect(await list()).toEqual(['ahead', 'now', 'between', 'backfilled']);
});

test('list events: filters by source, name, visitor and test, alone or combined', async () => {
  await addEvent('a', { sourceId: 's2', timeMs: nowMs + 3 });
  await addEvent('b', { name: 'Order', timeMs: nowMs + 2 });
  await addEvent('c', { visitorId: 'v2', timeMs: nowMs + 1 });
  await addEvent('d', { test: true, sourceId: 's2', name: 'Order', visitorId: 'v2' });
  expect(await list('?sourceId=s2')).toEqual(['a', 'd']);
  expect(await list('?event=Order')).toEqual(['b', 'd']);
  expect(await list('?event=order')).toEqual([]);
  expect(await list('?visitorId=v2')).toEqual(['c', 'd']);
  expect(await list('?test=true')).toEqual(['d']);
  expect(await list('?test=false')).toEqual(['a', 'b', 'c']);
  expect(await list('?test=true&sourceId=s2&event=Order&visitorId=v2')).toEqual(['d']);
});

test('list events: filters by a part of the name, time, property, and destination with outcome; the summary counts the same', async () => {
  await addEvent('e1', { name: 'Order Completed', timeMs: nowMs - 3_000 });
  await addEvent('e2', { name: 'Order Refunded', timeMs: nowMs - 2_000 });
  await addEvent('e3', { name: 'Signup', timeMs: nowMs - 1_000 });
  const { accountId } = client;
  await pool.query(
    `update recent_events set sample_of = 3, body = jsonb_set(body, '{event_properties}', '{"cart":{"id":"c-1"},"total":12}')
      where account_id = $1 and id = 'e2'`,
    [accountId],
  );
  await pool.query(
    `insert into event_outcomes (account_id, event_id, destination_id, outcome, attempts, at) values
      ($1, 'e1', 'd1', 'rejected', 1, now()), ($1, 'e2', 'd1', 'delivered', 1, now()), ($1, 'e2', 'd2', 'rejected', 1, now())`,
    [accountId],
  );
  const instant = (ms: number): string => new Date(ms).toISOString();
  const cases = [
    ['name=order', ['e2', 'e1']],
    [`from=${instant(nowMs - 2_000)}&to=${instant(nowMs - 1_000)}`, ['e2']],
    ['property=total&value=12', ['e2']],
    ['property=cart.id', ['e2']],
    ['property=cart.id&value=c-2', []],
    ['destinationId=d1&outcome=rejected', ['e1']],
    ['destinationId=d1', ['e2', 'e1']],
  ] as const;
  for (const [query, ids] of cases) {
    expect([query, await list(`?${query}`)]).toEqual([query, ids]);
  }
  expect((await client.get('/events/summary?destinationId=d1')).body).toEqual({
    events: 4,
    kept: 2,
    isSample: true,
    outcomes: { delivered: 3, rejected: 1, retrying: 0, stopped: 0, globalStop: 0 },
    since: new Date(nowMs + 1).toISOString(),
  });
  expect((await client.get('/events/summary?property=cart.id&value=c-2')).body).toMatchObject({
    events: 0,
    isSample: false,
  });
  for (const [query, error] of [
    ['value=x', 'value needs property'],
    [`from=${instant(nowMs)}&to=${instant(nowMs)}`, 'from must be before to'],
  ]) {
    expect(await client.get(`/events?${query}`)).toMatchObject({ status: 400, body: { error } });
  }
  await pool.query('update accounts set masks_personal_data = true where id = $1', [accountId]);
  const masked = await plane.newKey(client, ['event:list']);
  expect((await masked.get('/events?property=total&value=12')).status).toBe(403);
  expect((await masked.get('/events/summary?property=total')).status).toBe(403);
});

test('list events: CSV has a row for each outcome, in pages, with formulas defused, and is masked if the account masks', async () => {
  await addEvent('e1', { name: '=1+1', timeMs: nowMs - 1 });
  await addEvent('e2');
  await pool.query(
    `insert into event_outcomes (account_id, event_id, destination_id, outcome, reason, attempts, at, answer) values
      ($1, 'e1', 'd1', 'rejected', 'status 400', 2, '2026-03-01T00:00:00Z', $2)`,
    [client.accountId, JSON.stringify({ status: 400, message: 'say "no"' })],
  );
  const csvOf = async (key: string, query = '') => {
    const headers = { authorization: `Bearer ${key}` };
    const answer = await fetch(`${plane.baseUrl}/rest/v1/events?format=csv&limit=1${query}`, { headers });
    return { rows: (await answer.text()).split('\r\n'), next: answer.headers.get('x-next-cursor') };
  };
  const first = await csvOf(client.key);
  expect(first.rows[1]).toMatch(
    /^e2,Signup,2023-11-14T22:13:20.000Z,2023-11-14T22:13:20.001Z,s1,v1,1,{9}"\{""plan"":""free""\}"$/,
  );
  const second = await csvOf(client.key, `&cursor=${encodeURIComponent(first.next ?? '')}`);
  expect(second.rows[1]).toMatch(/^e1,'=1\+1,.*,d1,rejected,2,2026-03-01T00:00:00.000Z,status 400,400,,"say ""no""",/);
  expect(second.next).toBeNull();
  await pool.query('update accounts set masks_personal_data = true where id = $1', [client.accountId]);
  const masked = await plane.newKey(client, ['event:list']);
  expect((await csvOf(masked.key)).rows[1]).toContain('aaaa');
});

test('saved views: are listed by name, replaced and deleted, limited in number, visible only to their account, and changed only by those who may change destinations', async () => {
  const stranger = await plane.newAccount();
  const editor = await plane.newKey(client, ['event:list', 'destination:update']);
  for (const query of ['outcome=rejected', 'outcome=delivered'])
    await editor.post('/event-views', { name: 'Meta', query });
  await editor.post('/event-views', { name: 'A/B', query: '' });
  const names = async (of: Client): Promise<string[]> =>
    (await of.get('/event-views')).body.entities.map(
      (view: { name: string; query: string }) => `${view.name}: ${view.query}`,
    );
  expect(await names(client)).toEqual(['A/B: ', 'Meta: outcome=delivered']);
  expect((await client.post('/event-views', { name: 'Meta', query: '' })).status).toBe(403);
  expect((await client.delete('/event-views/Meta')).status).toBe(403);
  expect(await names(stranger)).toEqual([]);
  expect((await stranger.delete('/event-views/Meta')).status).toBe(404);
  expect((await editor.delete(`/event-views/${encodeURIComponent('A/B')}`)).body).toEqual({ deleted: true });
  await pool.query(
    `insert into saved_views (account_id, name, query) select $1, 'view ' || n, '' from generate_series(1, 99) n`,
    [client.accountId],
  );
  expect(await editor.post('/event-views', { name: 'one more', query: '' })).toMatchObject({ status: 400 });
  expect((await editor.post('/event-views', { name: 'Meta', query: 'name=x' })).status).toBe(200);
});

test('saved views: where the account masks, a key without pii:read sees filters without the value that they search for', async () => {
  const editor = await plane.newKey(client, ['event:list', 'destination:update']);
  await editor.post('/event-views', { name: 'Ann', query: 'range=1h&property=email&value=ann%40example.com' });
  await editor.post('/event-views', { name: 'Bob', query: 'name=a%20b' });
  await pool.query('update accounts set masks_personal_data = true where id = $1', [client.accountId]);
  const queriesFor = async (scopes: readonly string[]): Promise<readonly string[]> => {
    const { body } = await (await plane.newKey(client, scopes)).get('/event-views');
    return body.entities.map(({ query }: { readonly query: string }) => query);
  };
  expect(await queriesFor(['event:list'])).toEqual(['range=1h&property=email&value=aaa%40aaaaaaa.aaa', 'name=a%20b']);
  expect((await queriesFor(['event:list', 'pii:read']))[0]).toContain('value=ann%40example.com');
});

test('count events: counts by name and UTC day of the requested days; a sampled event counts as the events that it represents', async () => {
  const day = (text: string): number => Date.parse(text);
  await addEvent('a', { timeMs: day('2023-11-13T23:59:59.999Z') });
  await addEvent('b', { timeMs: day('2023-11-14T00:00:00Z') });
  await addEvent('c', { timeMs: day('2023-11-14T23:59:59Z'), sourceId: 's2' });
  await addEvent('d', { timeMs: day('2023-11-14T12:00:00Z'), name: 'Order', test: true });
  await pool.query("update recent_events set sample_of = 7 where account_id = $1 and id = 'c'", [client.accountId]);
  const counts = async (query: string): Promise<string[]> => {
    const { status, body } = await client.get(`/events/counts${query}`);
    expect([status, body.isComplete]).toEqual([200, true]);
    return body.counts.map((one: { day: string; event: string; events: number; isSampled: boolean }) =>
      [one.day, one.event, one.events, one.isSampled ? 'sampled' : 'all'].join(' '),
    );
  };
  const signups = ['2023-11-14 Signup 8 sampled'];
  expect(await counts('')).toEqual(['2023-11-13 Signup 1 all', '2023-11-14 Order 1 all', ...signups]);
  expect(await counts('?firstDay=2023-11-14&test=false')).toEqual(signups);
  expect(await counts('?lastDay=2023-11-13')).toEqual(['2023-11-13 Signup 1 all']);
  expect(await counts('?sourceId=s1&firstDay=2023-11-14&lastDay=2023-11-14&test=false')).toEqual([
    '2023-11-14 Signup 1 all',
  ]);
  expect((await client.get('/events/counts')).body).toMatchObject({ since: new Date(nowMs + 1).toISOString() });
  expect((await client.get('/events/counts?firstDay=2023-02-30')).status).toBe(400);
  const nobody = await plane.newAccount(['event:list', 'pii:read']);
  expect((await nobody.get('/events/counts')).body).toMatchObject({ counts: [], since: null });
});

test('list events: a visitor has the events of the visitors merged into it', async () => {
  const { accountId } = client;
  const visitors = createVisitorStore(pool);
  const claim = (userId: string, externalIds: string[]) => ({
    userId,
    externalIds,
    emails: [],
    anonymousId: undefined,
  });
  await visitors.resolve([
    { accountId, claim: claim('older', ['x']), receivedAtMs: Date.now(), given: [], sentWith: 'server' },
  ]);
  await visitors.resolve([
    { accountId, claim: claim('younger', []), receivedAtMs: Date.now(), given: [], sentWith: 'server' },
  ]);
  await addEvent('first', { visitorId: 'younger', timeMs: nowMs });
  await visitors.resolve([
    { accountId, claim: claim('younger', ['x']), receivedAtMs: Date.now(), given: [], sentWith: 'server' },
  ]);
  await addEvent('second', { visitorId: 'older', timeMs: nowMs + 1 });
  expect(await list('?visitorId=older')).toEqual(['second', 'first']);
  expect(await list('?visitorId=younger')).toEqual(['second', 'first']);
});

test('list events: a cursor keeps its place among equal times while events come and go', async () => {
  for (let n = 0; n < 7; n += 1) await addEvent(`e${n}`);
  const first = (await client.get('/events?limit=3')).body;
  expect(first.entities.map((entity: { id: string }) => entity.id)).toEqual(['e6', 'e5', 'e4']);
  // Adds a newer event, and a late event that sorts before the cursor's place; removes the cursor's own event and a
  // later one.
  await addEvent('newer', { timeMs: nowMs + 10 });
  await addEvent('e45');
  await pool.query("delete from recent_events where account_id = $1 and id in ('e4', 'e2')", [client.accountId]);
  const second = (await client.get(`/events?limit=3&cursor=${first.pagination.nextCursor}`)).body;
  expect(second.entities.map((entity: { id: string }) => entity.id)).toEqual(['e3', 'e1', 'e0']);
  expect(second.pagination).toEqual({ nextCursor: null, hasMore: false });
});

test('list events: walking the pages meets every event once', async () => {
  const ids = Array.from({ length: 23 }, (_, n) => `e${n}`);
  for (const [n, id] of ids.entries()) await addEvent(id, { timeMs: nowMs + (n % 4) });
  const seen: string[] = [];
  let query = '?limit=5';
  for (let page = 0; page < 5; page += 1) {
    const { body } = await client.get(`/events${query}`);
    seen.push(...body.entities.map((entity: { id: string }) => entity.id));
    query = `?limit=5&cursor=${body.pagination.nextCursor}`;
    expect(body.pagination.hasMore).toBe(page < 4);
  }
  expect([...seen].sort()).toEqual([...ids].sort());
});

test('list events: a cursor is refused if it is changed, or used with other filters or in another account', async () => {
  for (let n = 0; n < 3; n += 1) await addEvent(`e${n}`);
  const cursor: string = (await client.get('/events?limit=1&sourceId=s1')).body.pagination.nextCursor;
  expect((await client.get(`/events?sourceId=s1&cursor=${cursor}`)).status).toBe(200);
  expect((await client.get(`/events?sourceId=s2&cursor=${cursor}`)).status).toBe(400);
  expect((await client.get(`/events?sourceId=s1&cursor=x${cursor}`)).status).toBe(400);
  const other = await plane.newAccount();
  expect((await other.get(`/events?sourceId=s1&cursor=${cursor}`)).status).toBe(400);
});

test('list events: shows no other account its events, and needs the scope', async () => {
  await addEvent('mine');
  await addEvent('theirs', {}, randomUUID());
  expect(await list()).toEqual(['mine']);
  const without = await plane.newKey(client, ['visitor:find']);
  expect((await without.get('/events')).status).toBe(403);
});

test.each([
  ['?test=perhaps', /test must be true or false/],
  ['?sourceId=', /sourceId must be a string of 1 to/],
  ['?visitorId=a%00b', /visitorId must not contain NUL/],
])('list events: refuses %s', async (query, message) => {
  const { status, body } = await client.get(`/events${query}`);
  expect(status).toBe(400);
  expect(body.error).toMatch(message);
});
