import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Envelope } from '../../../shared/contracts/events/envelope.ts';
import { sendRaw } from '../../testing/raw-request.ts';
import { startRouteRig } from '../../testing/route-rig.ts';
import type { RouteRig } from '../../testing/route-rig.ts';
import { testSources } from '../../testing/test-sources.ts';

let rig: RouteRig;
beforeAll(async () => {
  rig = await startRouteRig();
});
afterAll(() => rig.stop());

const key = testSources.server.token;
const webKey = testSources.web.token;
const basic = (one: string): string => `Basic ${btoa(`${one}:`)}`;

type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>>; readonly headers: Headers };

async function post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const payload = body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);
  const answer = await fetch(`${rig.gateway.url}${path}`, { method: 'POST', headers, body: payload });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Answer['body'] };
}

const stored = async (id: string): Promise<Envelope | undefined> =>
  (await rig.log.envelopes()).findLast((envelope) => envelope.id === id);

const track = (messageId: string, more: object = {}): object => ({ event: 'Try', userId: 'u', messageId, ...more });

test.each([
  ['/v1/track', 'Try'],
  ['/v1/t', 'Try'],
  ['/v1/page', 'Page Viewed'],
  ['/v1/p', 'Page Viewed'],
  ['/v1/screen/', 'Screen Viewed'],
  ['/v1/s', 'Screen Viewed'],
  ['/v1/group', '$group'],
  ['/v1/g', '$group'],
  ['/v1/alias', '$alias'],
  ['/v1/a', '$alias'],
  ['//v1/track', 'Try'],
  ['//v1//track//', 'Try'],
])('compat: a call to %s is stored as the event %s', async (path, event) => {
  const id = `call${path}`;
  const answer = await post(path, track(id, { groupId: 'g', previousId: 'p' }), { authorization: basic(key) });
  expect([answer.status, answer.body]).toEqual([200, { success: true }]);
  expect((await stored(id))?.body).toMatchObject({ event });
});

test.each(['/v1/identify', '/v1/i'])('compat: a call to %s is stored as an identify', async (path) => {
  await post(path, { userId: 'u', messageId: `call${path}`, traits: { plan: 'pro' } }, { authorization: basic(key) });
  expect(await stored(`call${path}`)).toMatchObject({
    kind: 'identify',
    body: { externalId: 'u', userProperties: { custom_properties: { plan: 'pro' } } },
  });
});

test.each([
  ['/v1/batch', (id: string) => ({ writeKey: key, batch: [{ type: 'track', ...track(id) }] })],
  ['/v1/b', (id: string) => ({ writeKey: key, batch: [{ type: 'track', ...track(id) }] })],
  ['/v1/import', (id: string) => ({ writeKey: key, batch: [{ type: 'track', ...track(id) }] })],
  [`/beacon/v1/batch?writeKey=${key}`, (id: string) => ({ batch: [{ type: 'track', ...track(id) }] })],
  ['/batch/', (uuid: string) => ({ api_key: key, batch: [{ event: 'Try', distinct_id: 'u', uuid }] })],
  ['/i/v0/ai/batch/', (uuid: string) => ({ api_key: key, batch: [{ event: 'Try', distinct_id: 'u', uuid }] })],
  ['/capture', (uuid: string) => ({ api_key: key, event: 'Try', distinct_id: 'u', uuid })],
  ['/e/', (uuid: string) => ({ token: key, event: 'Try', distinct_id: 'u', uuid })],
  ['/i/v0/e/', (uuid: string) => ({ token: key, event: 'Try', distinct_id: 'u', uuid })],
  ['/track/', (uuid: string) => [{ event: 'Try', distinct_id: 'u', uuid, properties: { token: key } }]],
  ['/i/v0/e', (uuid: string) => ({ event: 'Try', uuid, properties: { token: key, distinct_id: 'u' } })],
  ['/batch', (uuid: string) => ({ batch: [{ event: 'Try', uuid, properties: { $token: key, distinct_id: 'u' } }] })],
  [`/e?token=${key}`, (uuid: string) => [{ event: 'Try', distinct_id: 'u', uuid }]],
])(
  'compat: %s accepts the key wherever its libraries put it, under any content type, and does not store the key',
  async (path, body) => {
    const id = `key${path.split('?')[0]}`;
    const answer = await post(path, body(id), { 'content-type': 'application/x-www-form-urlencoded' });
    expect([answer.status, answer.body]).toEqual([200, { success: true }]);
    expect((await stored(id))?.body).toMatchObject({ event: 'Try', externalId: 'u' });
    expect(await rig.log.rawFrames()).not.toContain(key);
  },
);

test('compat: gzip is read with or without a header, in chunks, and even if it is 400 times smaller than the body', async () => {
  const batch = (id: string) => ({ batch: [{ type: 'track', ...track(id) }] });
  const zipped = (id: string): Buffer => gzipSync(JSON.stringify(batch(id)));
  const headers = { authorization: basic(key) };
  expect((await post('/v1/batch', zipped('zipped-1'), { ...headers, 'content-encoding': 'gzip' })).status).toBe(200);
  expect((await post('/v1/batch', zipped('zipped-2'), headers)).status).toBe(200);
  const third = zipped('zipped-3');
  const head = `POST /v1/batch HTTP/1.1\r\nHost: g\r\nAuthorization: ${basic(key)}\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const chunks = [third.subarray(0, 20), third.subarray(20)].flatMap((piece) => [
    `${piece.length.toString(16)}\r\n`,
    piece,
    '\r\n',
  ]);
  expect((await sendRaw(rig.gateway.port, [head, ...chunks, '0\r\n\r\n'])).statuses).toEqual([200]);
  const large = Array.from({ length: 40 }, (_, index) => ({
    type: 'track',
    ...track(`large-${index}`, { properties: { text: 'a'.repeat(60_000) } }),
  }));
  const small = gzipSync(JSON.stringify({ batch: large }), { level: 9 });
  expect(small.length * 400).toBeLessThan(40 * 60_000);
  expect((await post('/v1/batch', small, headers)).status).toBe(200);
  for (const id of ['zipped-1', 'zipped-2', 'zipped-3', 'large-39']) expect(await stored(id)).toBeDefined();
});

test('compat: invalid events are left out and counted, and the others are stored', async () => {
  const batch = [{ type: 'video' }, 7, { type: 'track', ...track('beside-1') }, { type: 'track', event: '' }];
  const invalid = async (): Promise<number> =>
    Number(/events_total\{source_type="NodejsApi",result="invalid"\} (\d+)/.exec(await rig.gateway.metrics())?.[1]);
  const before = await invalid();
  expect((await post('/v1/batch', { batch }, { authorization: basic(key) })).body).toEqual({ success: true });
  expect(await stored('beside-1')).toBeDefined();
  expect((await invalid()) - before).toBe(3);
});

test('compat: events without identifiers, and events sent twice, are accepted unchanged', async () => {
  const batch = [{ type: 'track', event: 'Anonymous', messageId: 'anonymous-1' }];
  for (const _ of [1, 2]) expect((await post('/v1/batch', { batch }, { authorization: basic(key) })).status).toBe(200);
  const found = (await rig.log.envelopes()).filter(({ id }) => id === 'anonymous-1');
  // The resolver will drop the second event by its id.
  expect(found).toHaveLength(2);
});

test('compat: a batch may have more rows than on our own route, up to a limit of its own', async () => {
  const rows = (count: number): object => ({ batch: Array.from({ length: count }, () => ({ type: 'page' })) });
  expect((await post('/v1/batch', rows(4_142), { authorization: basic(key) })).status).toBe(200);
  const tooMany = await post('/v1/batch', rows(10_001), { authorization: basic(key) });
  expect(tooMany).toMatchObject({ status: 413, body: { limit: 10_000, code: 'too_large' } });
  expect((await post('/v1/batch', { batch: [] }, { authorization: basic(key) })).body).toEqual({ success: true });
});

type Refused = { readonly status: number; readonly code: string };

test.each<readonly [string, string, unknown, Readonly<Record<string, string>>, Refused]>([
  ['no key', '/v1/batch', { batch: [] }, {}, { status: 401, code: 'unauthorized' }],
  [
    'an unknown key',
    '/v1/track',
    { event: 'x' },
    { authorization: basic('nobody') },
    { status: 401, code: 'unauthorized' },
  ],
  ['no batch', '/v1/batch', { writeKey: key }, {}, { status: 400, code: 'invalid_request' }],
  [
    'nothing that is an event',
    '/v1/batch',
    { writeKey: key, batch: [1] },
    {},
    { status: 400, code: 'invalid_request' },
  ],
  ['no JSON', '/v1/batch', Buffer.from('{'), { authorization: basic(key) }, { status: 400, code: 'invalid_request' }],
  [
    'broken gzip',
    '/v1/batch',
    Buffer.from([0x1f, 0x8b, 1, 2]),
    { authorization: basic(key) },
    { status: 400, code: 'invalid_request' },
  ],
  [
    'another compression',
    '/v1/batch',
    { writeKey: key },
    { 'content-encoding': 'br' },
    { status: 415, code: 'unsupported_type' },
  ],
  [
    'a page that is not allowed',
    '/v1/t',
    { event: 'x', writeKey: testSources.domains.token },
    { origin: 'https://evil.test' },
    { status: 403, code: 'forbidden' },
  ],
])('compat: %s is refused with a code and a message', async (_, path, body, headers, { status, code }) => {
  const answer = await post(path, body, headers);
  expect(answer).toMatchObject({ status, body: { success: false, code } });
  expect(answer.body['message']).toBe(answer.body['error']);
});

test('compat: a source that exceeds its rate gets the time to wait in a header that pages may read', async () => {
  const limited = await startRouteRig({ RATE_LIMIT_EVENTS_PER_S: '1' });
  try {
    const body = JSON.stringify({ batch: [1, 2].map(() => ({ type: 'page', anonymousId: 'a' })) });
    const headers = { authorization: basic(webKey), origin: 'https://shop.test' };
    const send = (): Promise<Response> => fetch(`${limited.gateway.url}/v1/batch`, { method: 'POST', headers, body });
    await expect.poll(async () => (await send()).status).toBe(429);
    const refused = await send();
    expect(await refused.json()).toMatchObject({ code: 'rate_limited' });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(refused.headers.get('access-control-allow-origin')).toBe('https://shop.test');
    expect(refused.headers.get('access-control-expose-headers')).toBe('retry-after');
  } finally {
    await limited.stop();
  }
});

test("compat: Segment's browser library is configured to send to this gateway, with https if its page uses https", async () => {
  const settings = async (headers: Readonly<Record<string, string>>): Promise<unknown> =>
    (await fetch(`${rig.gateway.url}/v1/projects/${webKey}/settings`, { headers })).json();
  const host = new URL(rig.gateway.url).host;
  expect(await settings({})).toMatchObject({
    integrations: { 'Segment.io': { apiKey: webKey, apiHost: `${host}/v1`, protocol: 'http' } },
  });
  expect(await settings({ origin: 'https://shop.test' })).toMatchObject({
    integrations: { 'Segment.io': { protocol: 'https' } },
  });
  expect((await fetch(`${rig.gateway.url}/v1/projects/unknown/settings`)).status).toBe(401);
});

test("compat: RudderStack's browser library gets no destinations, and its HEAD request is answered", async () => {
  const url = `${rig.gateway.url}/sourceConfig/?writeKey=${webKey}&p=web`;
  const answer = await fetch(url, { headers: { origin: 'https://shop.test' } });
  expect(answer.headers.get('access-control-allow-origin')).toBe('https://shop.test');
  const said = (await answer.json()) as { readonly source: object };
  expect(said).toMatchObject({ source: { id: 'web', writeKey: webKey, destinations: [] } });
  // Libraries for Kotlin and Swift reject a configuration without these.
  for (const name of ['workspaceId', 'updatedAt']) expect(said.source).toHaveProperty(name, expect.any(String));
  const head = await fetch(url, { method: 'HEAD' });
  expect([head.status, await head.text()]).toEqual([200, '']);
  expect(head.headers.get('content-length')).toMatch(/^[1-9]\d*$/);
});

test('compat: each library family has its own OpenAPI document, and our own document has none of their paths', async () => {
  const paths = async (path: string): Promise<readonly string[]> => {
    const document = (await (await fetch(`${rig.gateway.url}/api/v1/openapi${path}`)).json()) as { paths: object };
    return Object.keys(document.paths);
  };
  expect(await paths('/segment')).toEqual(expect.arrayContaining(['/v1/track', '/v1/batch', '/v1/import', '/v1/m']));
  expect(await paths('/rudderstack')).toEqual(['/beacon/v1/batch', '/sourceConfig']);
  expect(await paths('/posthog')).toEqual(
    expect.arrayContaining(['/batch', '/e', '/engage', '/flags', '/array/{key}/config']),
  );
  expect((await paths('')).filter((path) => path.startsWith('/v1/'))).toEqual([]);
  expect((await fetch(`${rig.gateway.url}/api/v1/openapi/unknown`)).status).toBe(404);
});

test('retries: if a library retries a track without an id, the tries are one event', async () => {
  const headers = (count: string) => ({ 'content-type': 'application/json', 'x-stainless-retry-count': count });
  const body = { token: key, event: 'Tried', userId: 'tried-1' };
  for (const count of ['0', '1', '0']) await post('/api/v1/track', body, headers(count));
  for (const count of ['0', '1'])
    await post('/api/v1/identify', { token: key, userId: 'tried-1', userProperties: {} }, headers(count));
  const found = (await rig.log.envelopes()).filter((envelope) => envelope.body['userId'] === 'tried-1');
  const ids = (kind: string): readonly string[] => found.filter((one) => one.kind === kind).map(({ id }) => id);
  expect(ids('track')).toHaveLength(3);
  expect(new Set(ids('track')).size).toBe(2);
  expect(new Set(ids('identify')).size).toBe(1);
});

test("bots: the User-Agent of a server's own library marks no visitor as a bot; a visitor's User-Agent may do so", async () => {
  const source = {
    token: 'src_live_scored_0123456789',
    entity: { id: 'scored', name: 's', type: 'NodejsApi', status: 'Enabled', botControlMode: 'Block' },
  };
  await rig.log.publishSources([source, ...Object.values(testSources)]);
  const send = (distinctId: string, more: object, userAgent: string): Promise<Answer> =>
    post(
      '/api/v1/track',
      { token: source.token, event: 'Scored', distinctId, ...more },
      { 'content-type': 'application/json', 'user-agent': userAgent },
    );
  await expect.poll(async () => (await send('warm', {}, 'node')).status).toBe(200);
  await send('server', {}, 'python-requests/2.32');
  await send('named', { identityContext: { userAgent: 'Googlebot/2.1 (+http://www.google.com/bot.html)' } }, 'node');
  await send('context', { defaultProperties: { user_agent: 'Googlebot/2.1' } }, 'node');
  const bots = await Promise.all(['server', 'named', 'context'].map(async (id) => (await stored(id))?.bot));
  expect(bots).toEqual([undefined, 100, 100]);
});

test('snippet: requested with its hash it may be cached forever, otherwise for an hour', async () => {
  const ask = (query: string): Promise<Response> => fetch(`${rig.gateway.url}/sluice.js${query}`);
  const script = await (await ask('')).text();
  expect(gzipSync(script).length).toBeLessThan(3_904);
  const { readWebSnippet } = await import('../../../shared/web-snippet/web-snippet.ts');
  const kept = await ask(`?v=${readWebSnippet().hash}`);
  expect(kept.headers.get('cache-control')).toContain('immutable');
  expect((await ask('?v=another')).headers.get('cache-control')).toBe('public, max-age=3600');
  expect(await kept.text()).toBe(script);
});

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

test.each([
  ['a byte that is not UTF-8', '"M\u00fcnchen"'],
  ['a byte that is not UTF-8, in a message that is parsed', '"\\u0041M\u00fcnchen"'],
  ['too many levels', nested(80)],
])('compat: a message with %s is left out and counted, and the others of its batch are stored', async (name, city) => {
  const id = (which: string): string => `unreadable ${name} ${which}`;
  const spec = (which: string, more = ''): string =>
    `{"type":"track","event":"U","messageId":"${id(which)}","userId":"u"${more}}`;
  const capture = (which: string, more = ''): string => `{"event":"U","uuid":"${id(which)}","distinct_id":"u"${more}}`;
  const properties = `,"properties":{"city":${city}}`;
  const bodies = [
    ['/v1/batch', `{"batch":[${spec('s-0')},${spec('s-1', properties)},${spec('s-2')}]}`],
    ['/batch/', `{"api_key":"${key}","batch":[${capture('p-0')},${capture('p-1', properties)},${capture('p-2')}]}`],
  ] as const;
  for (const [path, body] of bodies) {
    expect((await post(path, Buffer.from(body, 'latin1'), { authorization: basic(key) })).status).toBe(200);
  }
  const found = await Promise.all(['s-0', 's-1', 's-2', 'p-0', 'p-1', 'p-2'].map((which) => stored(id(which))));
  expect(found.map((envelope) => envelope !== undefined)).toEqual([true, false, true, true, false, true]);
});
