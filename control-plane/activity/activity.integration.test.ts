// Large: cases of one endpoint on one control plane.
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { encodeHealthRecord, pastHealthKey, recentHealthKey } from '../../shared/contracts/health-record.ts';
import { encodeReport, leaseKey } from '../../shared/contracts/process-report.ts';
import { encodeLagRecord, lagKey } from '../../shared/contracts/resolve-lag.ts';
import { encodeSourceRecord, pastSourceKey, sourceKey } from '../../shared/contracts/source-activity.ts';
import { encodeWorkReport, workKey } from '../../shared/contracts/work-report.ts';
import { openBuckets } from '../../shared/nats/buckets/open-buckets.ts';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;
let pool: pg.Pool;
let client: Client;

beforeAll(async () => {
  plane = await startTestControlPlane({ EVENT_STREAMS_MAX: 5 });
  pool = new pg.Pool({ connectionString: plane.databaseUrl, max: 2 });
});
beforeEach(async () => {
  client = await plane.newAccount();
});
afterAll(async () => {
  await pool.end();
  await plane.stop();
});

async function addEvent(id: string, sourceId: string, test = false): Promise<void> {
  await pool.query(
    `insert into recent_events (account_id, id, time, received_at, source_id, name, visitor_id, test, sample_of, body)
      values ($1, $2, now(), now(), $3, 'Signed Up', 'v1', $4, 3, $5)`,
    [client.accountId, id, sourceId, test, { event_properties: { plan: 'free' }, context: {}, visitor: { id: 'v1' } }],
  );
}

/** Reads a stream up to the first message whose JSON `fits`, and returns that JSON. */
async function firstOf(path: string, fits: (value: unknown) => boolean): Promise<unknown> {
  const left = new AbortController();
  const answer = await fetch(`${plane.baseUrl}/rest/v1${path}`, {
    headers: { authorization: `Bearer ${client.key}` },
    signal: left.signal,
  });
  expect(answer.headers.get('content-type')).toBe('text/event-stream');
  const reader = (answer.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  try {
    let text = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) throw new Error(`the stream ended after ${text}`);
      text += value;
      for (const [, data] of text.matchAll(/^data: (.*)\n\n/gm)) {
        const message: unknown = JSON.parse(data ?? '');
        if (fits(message)) return message;
      }
    }
  } finally {
    left.abort();
  }
}

test('activity: counts events by source as gateways report them, counts test events separately, and shows why events were refused', async () => {
  const { body: source } = await client.post('/sources', { name: 'Shop', type: 'NodejsApi' });
  const { health } = await openBuckets(plane.log, 1);
  const nowMs = Date.now();
  const [minute, hour] = [Math.floor(nowMs / 60_000), Math.floor(nowMs / 3_600_000)];
  const key = sourceKey(source.id, 'gateway-1');
  await health.put(
    pastSourceKey(key),
    encodeSourceRecord({
      lastTriggeredAt: 1,
      minutes: [],
      hours: [[hour - 100, 40, 0, 0, 0, 0, 0]],
      lastInvalid: null,
    }),
  );
  await health.put(
    key,
    encodeSourceRecord({
      lastTriggeredAt: nowMs,
      minutes: [[minute, 3, 2, 0, 1, 5, 4]],
      hours: [[hour, 7, 2, 0, 1, 5, 4]],
      lastInvalid: { at: nowMs, problem: 'event is required' },
    }),
  );
  await health.put(lagKey('pipeline-1'), encodeLagRecord({ minutes: [[minute, 120]], hours: [[hour - 100, 9_000]] }));
  await expect.poll(async () => (await client.get('/activity?range=15m')).body.sources[0].total).toBe(3);
  const { body } = await client.get('/activity?range=15m');
  expect(body.sources).toMatchObject([{ id: source.id, name: 'Shop', total: 3, testTotal: 2, isLive: false }]);
  const lastInvalid = { at: new Date(nowMs).toISOString(), problem: 'event is required' };
  expect(body.sources[0].lastInvalid).toEqual(lastInvalid);
  expect((await client.get(`/sources/${source.id}`)).body.lastInvalid).toEqual(lastInvalid);
  expect(body.sources[0].refused).toEqual({ lost: 0, invalid: 1, limited: 5, forbidden: 4 });
  expect(body.sources[0].events).toHaveLength(15);
  await expect.poll(async () => (await client.get('/activity?range=15m')).body.resolveLagMs.at(-1)).toBe(120);
  const { body: week } = await client.get('/activity?range=7d');
  expect(week.sources[0]).toMatchObject({ total: 47, testTotal: 2 });
  expect(week.sources[0].events).toHaveLength(28);
  expect(Math.max(...week.resolveLagMs)).toBe(9_000);
  expect(body).toMatchObject({ draftChanges: 1, live: null, gateways: 0, pipelines: 0 });
  expect(body.problems[0]).toMatchObject({ level: 'bad', kind: 'process' });
  expect((await client.get('/activity?range=24h')).body.sources[0].events).toHaveLength(24);
  expect((await client.get('/activity?range=1y')).status).toBe(400);
});

test('activity: a source counts as used once an event of it was stored, and not after a refused request', async () => {
  const { health } = await openBuckets(plane.log, 1);
  const nowMs = Date.now();
  const [minute, hour] = [Math.floor(nowMs / 60_000), Math.floor(nowMs / 3_600_000)];
  const add = async (stored: number, test: number, refused: number, hoursAgo = 0): Promise<void> => {
    const { body: source } = await client.post('/sources', { type: 'NodejsApi' });
    const counts = [stored, test, 0, refused, 0, 0] as const;
    const step = {
      minutes: hoursAgo === 0 ? [[minute, ...counts] as const] : [],
      hours: [[hour - hoursAgo, ...counts] as const],
    };
    const record = { lastTriggeredAt: nowMs, lastInvalid: null, ...step };
    await health.put(sourceKey(source.id, 'gateway-1'), encodeSourceRecord(record));
  };
  const totals = async () => (await client.get('/activity?range=15m')).body.totals;
  await add(0, 0, 4);
  await expect.poll(async () => (await totals()).refused).toBe(4);
  expect((await totals()).usedSources).toBe(0);
  await add(0, 1, 0);
  // Of an hour before the range.
  await add(1, 0, 0, 20);
  await expect.poll(async () => (await totals()).usedSources).toBe(2);
});

test('activity: events that were not stored today are a problem of their source, also while the last minutes show none', async () => {
  const { body: source } = await client.post('/sources', { name: 'Shop', type: 'NodejsApi' });
  const { health } = await openBuckets(plane.log, 1);
  const hour = Math.floor(Date.now() / 3_600_000);
  await health.put(
    sourceKey(source.id, 'gateway-1'),
    encodeSourceRecord({ lastTriggeredAt: 1, minutes: [], hours: [[hour - 3, 40, 0, 2, 0, 0, 0]], lastInvalid: null }),
  );
  const ofSources = async () => (await client.get('/activity?range=15m')).body.problems.filter(isOfSource);
  const isOfSource = ({ kind }: { readonly kind: string }): boolean => kind === 'source';
  await expect.poll(ofSources).toMatchObject([{ level: 'bad', id: source.id, name: 'Shop' }]);
});

test('delivery: shows outcomes of events by name, rule and source, added up over several pipelines', async () => {
  const { body: shop } = await client.post('/sources', { name: 'Shop', type: 'NodejsApi' });
  const { body: partner } = await client.post('/sources', { name: 'Partner', type: 'NodejsApi' });
  const settings = { httpDestinationUrl: 'https://example.com/hook' };
  const limited = { type: 'HTTPDestination', settings, limitedToSourceIds: [shop.id] };
  const { body: to } = await client.post('/destinations', limited);
  const rule = { destinationId: to.id, name: 'No refunds', action: 'stop', eventName: null, mappings: [], logic: null };
  const { body: mapping } = await client.post('/collections/mappings', { ...rule, priority: 1 });
  await client.publish();
  const { health } = await openBuckets(plane.log, 1);
  const nowMs = Date.now();
  const [fine, hour] = [Math.floor(nowMs / 300_000), Math.floor(nowMs / 3_600_000)];
  const tableOf = (row: string, column: string, counts: readonly number[], hours: readonly number[][] = []) => ({
    since: nowMs - 40 * 3_600_000,
    rows: [row],
    columns: [column],
    fine: counts.map((count) => [fine, 0, count]),
    hours: hours.map((one) => [...one]),
    hoursUntil: hour - 24,
  });
  const record = (delivery: object) => encodeHealthRecord({ v: 1, minutes: [], lastDispatchedAt: nowMs, delivery });
  const key = recentHealthKey(to.id, 'one');
  const before = tableOf('Order', 'log>delivered', [4], [[hour - 30, 0, 7]]);
  await health.put(pastHealthKey(key), record({ names: before, sources: tableOf(shop.id, 'log>delivered', [5]) }));
  await health.put(key, record({ names: tableOf('Order', 'log>delivered', [5]) }));
  const stopped = tableOf('Refund', `log>stopped mapping ${mapping.id}`, [2]);
  await health.put(recentHealthKey(to.id, 'two'), record({ names: stopped }));
  const path = `/destinations/${to.id}/delivery`;
  await expect.poll(async () => (await client.get(path)).body.total.received).toBe(7);
  const { body: day } = await client.get(path);
  expect(day.names).toMatchObject([
    { event: 'Order', received: 5, delivered: 5 },
    { event: 'Refund', received: 2, filtered: 2 },
  ]);
  expect(day.filtered).toEqual([{ kind: 'mapping', rule: mapping.id, name: 'No refunds', events: 2 }]);
  const from = new Date(nowMs - 40 * 3_600_000).toISOString();
  const { body: longer } = await client.get(`${path}?from=${from}&event=Order`);
  expect(longer).toMatchObject({ stepMs: 3_600_000, total: { received: 12 } });
  expect((await client.get(`${path}?from=2020-01-01T00:00:00Z`)).body.error).toContain('at most 7 days');
  expect((await client.get(`${path}?from=${from}&to=${from}`)).body.error).toContain('from must be before to');
  expect((await client.get(`${path}?to=2026-06-30T23:59:60Z`)).body.error).toContain('to must be a time');
  const { body: open } = await client.post('/destinations', { type: 'HTTPDestination', settings });
  await client.publish();
  const { body: map } = await client.get('/activity/connections?limit=2');
  expect(map.entities).toMatchObject([
    { source: { id: shop.id, label: 'Node.js' }, destination: { id: to.id }, isAllowed: true, delivered: 5 },
    { source: { id: shop.id }, destination: { id: open.id, name: 'HTTP Destination' }, delivered: 0 },
  ]);
  expect(map.totals).toEqual({ sources: 2, destinations: 2 });
  const { body: last } = await client.get(`/activity/connections?limit=2&cursor=${map.pagination.nextCursor}`);
  expect(last.entities).toMatchObject([{ source: { id: partner.id }, destination: { id: open.id } }]);
  expect(last.pagination).toEqual({ nextCursor: null, hasMore: false });
  expect(new Set(map.sources.map(({ id }: { id: string }) => id))).toEqual(new Set([shop.id, partner.id]));
  const other = await plane.newAccount();
  expect((await other.get(path)).status).toBe(404);
  expect((await other.get('/activity/connections')).body).toMatchObject({ sources: [], entities: [] });
});

test('activity: the parameter top limits the lists but not the totals, and destinations come in pages, the worst first', async () => {
  const settings = { httpDestinationUrl: 'https://example.com/hook' };
  const ids: string[] = [];
  for (const name of ['Alpha', 'Beta', 'Gamma', '']) {
    ids.push((await client.post('/destinations', { type: 'HTTPDestination', name, settings })).body.id);
  }
  await client.publish();
  await client.post('/destinations', { type: 'HTTPDestination', name: 'Draft only' });
  const { health } = await openBuckets(plane.log, 1);
  const minute = Math.floor(Date.now() / 60_000);
  const counted = (good: number, bad: number) =>
    encodeHealthRecord({ v: 1, minutes: [[minute, good, bad, 0, 0]], lastDispatchedAt: null });
  await health.put(recentHealthKey(String(ids[1]), 'one'), counted(1, 9));
  await health.put(recentHealthKey(String(ids[2]), 'one'), counted(7, 3));
  await expect.poll(async () => (await client.get('/activity')).body.totals.failed).toBe(12);
  const { body: top } = await client.get('/activity?top=1');
  expect(top.destinations).toMatchObject([{ name: 'Beta', label: 'HTTP Destination' }]);
  expect(top.problems).toHaveLength(1);
  expect(top.totals).toMatchObject({ destinations: 5, liveDestinations: 4, succeeded: 8, failed: 12 });
  expect(top.totals.problems).toBeGreaterThan(1);
  expect((await client.get('/activity')).body.destinations).toHaveLength(5);
  expect((await client.get('/activity?top=0')).status).toBe(400);
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { body } = await client.get(`/activity/destinations?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
    expect(body.total).toBe(5);
    seen.push(...body.entities.map(({ name }: { name: string }) => name));
    cursor = body.pagination.nextCursor;
  }
  expect(seen).toEqual(['Beta', 'Gamma', 'Alpha', 'HTTP Destination', 'Draft only']);
  const namesOf = async (query: string): Promise<string[]> =>
    (await client.get(`/activity/destinations?${query}`)).body.entities.map(({ name }: { name: string }) => name);
  expect(await namesOf('state=failing')).toEqual(['Beta', 'Gamma']);
  expect(await namesOf('state=off')).toEqual(['Draft only']);
  expect(await namesOf('nameContains=gAM&state=live')).toEqual(['Gamma']);
  expect(await namesOf(`id=${ids[0]}`)).toEqual(['Alpha']);
});

test('activity: an account sees nothing of the activity of another account', async () => {
  await client.post('/destinations', { type: 'HTTPDestination' });
  await pool.query(
    `insert into violations (account_id, hour, rule, event, source_id, app_version, action, severity, count, first_at, last_at, sample)
      values ($1, date_trunc('hour', now()), 'own-rule', 'E', 's', '', 'Report', 'Error', 7, now(), now(), '')`,
    [client.accountId],
  );
  const other = await plane.newAccount();
  expect((await other.get('/activity')).body).toMatchObject({ sources: [], destinations: [] });
  const violationsOf = async (one: Client): Promise<unknown[]> =>
    ((await one.get('/activity')).body.problems as { kind: string }[]).filter(({ kind }) => kind === 'rule');
  expect([(await violationsOf(client)).length, await violationsOf(other)]).toEqual([1, []]);
});

test('streams: the events stream sends new events, and the activity stream begins with the current state', async () => {
  const events = firstOf('/events/stream', (value) => (value as { events: unknown[] }).events.length === 1);
  await addEvent('c', 's');
  expect(await events).toMatchObject({ events: [{ id: 'c', event: 'Signed Up' }] });
  const activity = await firstOf('/activity/stream', () => true);
  expect(activity).toMatchObject({ range: '15m', steps: 15 });
});

test('streams: a stream beyond the limit is refused, and a closed stream makes room', async () => {
  const [second, third] = [await plane.newAccount(), await plane.newAccount()];
  // Five streams may be open at once, two of them for one account.
  const opened = [client, client, second, second, third].map(({ key }) => ({ key, left: new AbortController() }));
  const follow = (key: string, signal: AbortSignal): Promise<Response> =>
    fetch(`${plane.baseUrl}/rest/v1/events/stream`, { headers: { authorization: `Bearer ${key}` }, signal });
  const statusOf = async (): Promise<number> => {
    const another = new AbortController();
    const { status } = await follow(third.key, another.signal);
    another.abort();
    return status;
  };
  // Polled, because streams of earlier tests count until their connections are closed.
  for (const { key, left } of opened) await expect.poll(async () => (await follow(key, left.signal)).status).toBe(200);
  expect(await statusOf()).toBe(429);
  opened[0]?.left.abort();
  await expect.poll(statusOf).toBe(200);
  for (const { left } of opened) left.abort();
});

test('event routing: the request to a destination needs the scope destination:find, which is checked before the parameters and the event', async () => {
  const { body: destination } = await client.post('/destinations', {
    type: 'HTTPCustomRequest',
    settings: {
      url: 'https://example.com/in',
      headers: '{"X-Partner":"TOPSECRET-{{event.event_properties.a}}"}',
    },
  });
  await addEvent('t', 's');
  const path = '/events/t/ways?rules=draft';
  const lister = await plane.newKey(client, ['event:list']);
  expect((await lister.get(path)).status).toBe(200);
  for (const asked of [
    `&destinationId=${destination.id}`,
    '&destinationId=nothing',
    '&destinationId=',
    '&nope=1&destinationId=a&destinationId=b',
  ]) {
    const answer = await lister.get(`${path}${asked}`);
    expect([answer.status, answer.body.error]).toEqual([403, 'the API key lacks the scope destination:find']);
  }
  for (const event of ['t', 'none']) {
    const tried = await lister.post(`/events/${event}/ways`, { destinationId: destination.id });
    expect([tried.status, tried.body.error]).toEqual([403, 'the API key lacks the scope destination:find']);
  }
  expect((await lister.post('/events/t/ways', {})).status).toBe(200);
  expect((await lister.get(`/events/none/ways?destinationId=${destination.id}`)).status).toBe(403);
  const finder = await plane.newKey(client, ['destination:find']);
  expect((await finder.get(`${path}&destinationId=${destination.id}`)).body.error).toContain('event:list');
  const both = await plane.newKey(client, ['event:list', 'destination:find']);
  const shown = await both.get(`${path}&destinationId=${destination.id}`);
  expect(shown.body.ways).toMatchObject([{ request: { headers: { 'x-partner': '********' } } }]);
  expect(JSON.stringify(shown.body)).not.toContain('TOPSECRET');
});

test('event routing: shows the decision of the draft and of the live version for an event, and the request without its secrets', async () => {
  const { body: open } = await client.post('/destinations', {
    name: 'Open',
    type: 'HTTPDestination',
    settings: { httpDestinationUrl: 'https://example.com/in', headers: '{"x-api-key": "very-secret"}' },
  });
  await client.publish();
  await client.post('/collections/mappings', {
    name: 'No sign-ups',
    destinationId: open.id,
    action: 'stop',
    logic: { condition: { property: 'event.event', operator: 'Is', value: 'Signed Up' } },
  });
  await addEvent('d', 's');
  const live = await client.get('/events/d/ways');
  expect(live.body.ways).toMatchObject([{ destinationId: open.id, decision: 'send', request: null }]);
  const draft = await client.get('/events/d/ways?rules=draft');
  expect(draft.body.ways).toMatchObject([{ decision: 'stop', why: 'A mapping stops it.' }]);
  expect(draft.body.ways[0].ruleId).toBe('no-sign-ups');
  const { body: shown } = await client.get(`/events/d/ways?destinationId=${open.id}`);
  expect(shown.ways[0].request).toMatchObject({ method: 'POST', url: 'https://example.com/in' });
  expect(shown.ways[0].request.body).toContain('Signed Up');
  expect(JSON.stringify(shown)).not.toContain('very-secret');
  expect((await client.get('/events/none/ways')).status).toBe(404);
  expect((await client.get('/events/d')).body).toMatchObject({ id: 'd', outcomes: [] });
});

test('rules: an unsaved rule can be tried on a recent event, and nothing of it is stored', async () => {
  const { body: target } = await client.post('/destinations', {
    name: 'Tried',
    type: 'HTTPDestination',
    settings: { httpDestinationUrl: 'https://example.com/tried', headers: '{"x-api-key": "very-secret"}' },
  });
  await addEvent('tried', 's');
  const path = '/events/tried/ways';
  const rule = {
    destinationId: target.id,
    logic: { condition: { property: 'event.event', operator: 'StartsWith', value: 'Signed' } },
    eventName: 'Lead',
    mappings: [{ property: 'what', map: '{{event.event}}', modification: 'UpperCase' }],
  };
  const tried = async (given: object) => (await client.post(path, { destinationId: target.id, ...given })).body.ways[0];
  const sent = await tried({ mappings: { id: 'new', fields: rule } });
  expect(sent).toMatchObject({ decision: 'send', ruleId: 'new', eventName: 'Lead', properties: { what: 'SIGNED UP' } });
  expect(sent.request.body).toContain('SIGNED UP');
  expect(JSON.stringify(sent)).not.toContain('very-secret');
  const stored = (await client.post('/collections/mappings', { ...rule, name: 'Stored', action: 'stop' })).body;
  expect(await tried({})).toMatchObject({ decision: 'stop', ruleId: stored.id });
  expect(await tried({ mappings: { id: stored.id, fields: null } })).toMatchObject({
    decision: 'send',
    properties: null,
  });
  const category = { name: 'No sign-ups', priority: 0, destinationIds: [target.id], logic: rule.logic };
  expect(await tried({ globalDispatchCenters: { id: 'new', fields: { categories: [category] } } })).toMatchObject({
    decision: 'globalStop',
  });
  expect(await tried({ allowedEvents: { id: 'new', fields: { name: 'Other' } } })).toMatchObject({ decision: 'skip' });
  const wrong = { ...rule, logic: { AND: [{ condition: { ...rule.logic.condition, operator: 'IsGreaterThan' } }] } };
  expect(await client.post(path, { mappings: { id: 'new', fields: wrong } })).toMatchObject({
    status: 400,
    body: { error: 'logic.AND[0].condition.value must be a number' },
  });
  expect((await client.post('/events/none/ways', {})).status).toBe(404);
  expect((await client.get('/collections/mappings')).body.entities).toHaveLength(1);
  const { body: language } = await client.get('/rules/language');
  expect(language.operators).toContainEqual(expect.objectContaining({ name: 'IsBetween', takes: 'range' }));
});

test('rules: recent events show which paths have values, what a condition matches, and what a publish would change', async () => {
  const destination = (
    name: string,
    type = 'HTTPDestination',
    settings: object = { httpDestinationUrl: 'https://example.com/in' },
  ) => client.post('/destinations', { name, type, settings }).then(({ body }) => body.id as string);
  const changed = await destination('Changed', 'GA4MeasurementProtocol', {
    measurementId: 'G-ABCDEF1234',
    apiSecret: 'very-secret',
  });
  await destination('Untouched');
  for (const [id, isTest] of [
    ['m1', false],
    ['m2', false],
    ['m3', true],
  ] as const) {
    await addEvent(id, 's', isTest);
  }
  await client.publish();
  const added = await destination('Added');
  const row = { property: 'tier', map: '{{event.event_properties.plan}}', modification: 'None' };
  await client.post('/collections/mappings', { destinationId: changed, eventName: 'joined', mappings: [row] });
  const { body: impact } = await client.get('/versions/draft/impact?samples=true');
  expect(impact).toMatchObject({ examined: 2, isSample: true, isComplete: true });
  expect(impact.destinations).toHaveLength(2);
  const of = (id: string) => impact.destinations.find((one: { destinationId: string }) => one.destinationId === id);
  expect(of(changed)).toMatchObject({
    name: 'Changed',
    changed: 2,
    added: 0,
    removed: 0,
    samples: [
      { event: 'Signed Up', change: 'changed', before: { sentName: 'sign_up' }, after: { sentName: 'joined' } },
    ],
  });
  expect(of(changed).samples[0].after.request.body).toContain('tier');
  expect(of(added)).toMatchObject({ changed: 0, added: 2, samples: [{ change: 'added', before: null }] });
  expect(JSON.stringify(impact)).not.toContain('very-secret');
  const narrow = await plane.newKey(client, ['version:find']);
  expect((await narrow.get('/versions/draft/impact')).body.destinations[0].samples).toEqual([]);
  expect((await narrow.get('/versions/draft/impact?samples=true')).status).toBe(403);

  expect((await client.get('/rules/paths')).body).toEqual({
    events: 2,
    paths: [
      { path: 'event.event_properties.plan', events: 2, example: 'free' },
      { path: 'visitor.id', events: 2, example: 'v1' },
    ],
  });
  expect((await client.get('/rules/paths?event=Other')).body).toEqual({ events: 0, paths: [] });
  const matches = async (value: string) => {
    const logic = { condition: { property: 'event.event_properties.plan', operator: 'Is', value } };
    return (await client.post('/rules/matches', { logic })).body;
  };
  expect(await matches('free')).toMatchObject({ matched: 6, examined: 6, isSample: true, isComplete: true });
  expect((await matches('free')).events.map(({ id }: { id: string }) => id).toSorted()).toEqual(['m1', 'm2']);
  expect(await matches('paid')).toMatchObject({ matched: 0, events: [] });
  expect((await client.post('/rules/matches', { logic: null })).body.matched).toBe(6);

  await client.patch('/account', { masksPersonalData: true });
  const masked = await plane.newKey(client, ['version:find', 'event:list']);
  expect((await masked.get('/rules/paths')).body.paths[0]).toMatchObject({ events: 2, example: 'aaaa' });
  expect(JSON.stringify((await masked.get('/versions/draft/impact?samples=true')).body)).not.toContain('free');
  const named = { condition: { property: 'event.event', operator: 'Is', value: 'Signed Up' } };
  const guessed = { AND: [named, { NOT: { condition: { property: 'visitor.id', operator: 'Is', value: 'v1' } } }] };
  expect((await masked.post('/rules/matches', { logic: named })).body.matched).toBe(6);
  expect((await masked.post('/rules/matches', { logic: guessed })).body.error).toContain('pii:read');
});

test('failures: recent events that did not arrive are counted by reason', async () => {
  const { body: one } = await client.post('/destinations', { type: 'HTTPDestination' });
  for (const [id, reason] of [
    ['e', 'status 400'],
    ['f', 'status 400'],
    ['g', 'status 413'],
  ]) {
    await addEvent(String(id), 's');
    await pool.query(
      `insert into event_outcomes (account_id, event_id, destination_id, outcome, reason, attempts, at)
        values ($1, $2, $3, 'rejected', $4, 1, now())`,
      [client.accountId, id, one.id, reason],
    );
  }
  const { body } = await client.get(`/destinations/${one.id}/failures`);
  expect(body.entities).toMatchObject([
    { reason: 'status 400', events: 6, outcome: 'rejected' },
    { reason: 'status 413', events: 3, lastEventId: 'g' },
  ]);
  const rejected = await client.get(`/events?outcome=rejected&destinationId=${one.id}`);
  expect(rejected.body.entities).toHaveLength(3);
  expect((await client.get('/events?outcome=delivered')).body.entities).toHaveLength(0);
  expect((await client.get(`/destinations/${one.id}/backlog`)).body).toEqual({
    waitingFrames: 0,
    retryingFrames: 0,
    deadLetters: 0,
  });
  const series = await client.get(`/destinations/${one.id}/health/series?stepMinutes=15`);
  expect(series.body.steps).toHaveLength(96);
});

test('system: processes, their work, partitions and findings of the doctor are shown, but not to a key of one account', async () => {
  expect((await client.get('/system/processes')).body).toMatchObject({ error: expect.stringContaining('system:find') });
  const operator = await plane.newKey(client, ['system:find']);
  const { leases } = await openBuckets(plane.log, 1);
  const report = { kind: 'pipeline', instanceId: 'one', startedAt: '2026-01-01T00:00:00.000Z', revision: 7 } as const;
  await leases.put(leaseKey(report), encodeReport({ ...report, revisionAt: '2026-01-02T00:00:00.000Z' }));
  const actor = { kind: 'resolver', key: '0', thread: 1, state: 'running', failuresInARow: 0 };
  await leases.put(workKey('one'), encodeWorkReport({ v: 1, threads: [], actors: [actor], actorsMore: 2 }));
  await expect.poll(async () => (await operator.get('/system/work')).body.entities).toHaveLength(1);
  expect((await operator.get('/system/work')).body.entities[0]).toMatchObject({ actors: [actor], actorsMore: 2 });
  expect((await operator.get('/system/processes')).body.entities).toMatchObject([
    { instanceId: 'one', revision: 7, revisionAt: '2026-01-02T00:00:00.000Z' },
  ]);
  expect((await operator.get('/system/processes')).body.controlPlanes).toEqual([
    { address: '127.0.0.1', version: expect.stringMatching(/^\d/), connectedAt: expect.any(String), isLeader: true },
  ]);
  expect((await operator.get('/system/partitions')).body.entities).toEqual([
    { partition: 0, waitingFrames: 0, oldestMs: null },
  ]);
  expect((await operator.get('/system/alerts')).body).toEqual({ isConfigured: false, problem: null, entities: [] });
  const { body } = await operator.get('/system/findings');
  const abouts = body.entities.map(({ about }: { about: string }) => about);
  expect(abouts).toEqual(expect.arrayContaining(['durability', 'disk space', 'PostgreSQL', 'clock of PostgreSQL']));
});
