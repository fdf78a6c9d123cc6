import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NatsServer } from '../../shared/embedded/nats-server.ts';
import { startTestNats } from '../../shared/testing/servers.ts';
import { startGatewayHere } from '../testing/gateway-here.ts';
import type { GatewayUnderTest } from '../testing/gateway-here.ts';
import { openTestLog } from '../testing/test-log.ts';
import type { TestLog } from '../testing/test-log.ts';
import { allTestSources, testSources } from '../testing/test-sources.ts';

let nats: NatsServer;
let log: TestLog;
let gateway: GatewayUnderTest;

beforeAll(async () => {
  nats = await startTestNats();
  log = await openTestLog(nats.url);
  await log.publishSources(allTestSources);
  gateway = await startGatewayHere(nats.url, { TRUSTED_PROXIES: '127.0.0.1' });
});

afterAll(async () => {
  await gateway.stop();
  await log.close();
  await nats.stop();
});

const { token } = testSources.server;
const dayMs = 86_400_000;
const text = (characters: number): string => 'x'.repeat(characters);
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

type Row = {
  readonly name: string;
  readonly path?: string;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
  /** What the answer's `error` must mention. */
  readonly error?: RegExp;
};

const track = (fields: object): object => ({ token, event: 'Viewed', ...fields });
const identify = (fields: object): object => ({ token, userProperties: {}, ...fields });

const rows: readonly Row[] = [
  // track: fields
  { name: 'track: the least it may hold', body: track({}), status: 200 },
  { name: 'track: unknown keys', body: track({ anything: { goes: [1, null] } }), status: 200 },
  { name: 'track: no event', body: { token }, status: 400, error: /event/ },
  { name: 'track: event is null', body: track({ event: null }), status: 400, error: /event/ },
  { name: 'track: event is a number', body: track({ event: 7 }), status: 400, error: /event/ },
  { name: 'track: event is empty', body: track({ event: '' }), status: 400, error: /event/ },
  { name: 'track: event at its length', body: track({ event: text(1000) }), status: 200 },
  { name: 'track: event over its length', body: track({ event: text(1001) }), status: 400, error: /event/ },
  { name: 'track: length counts characters, not units', body: track({ event: '😀'.repeat(1000) }), status: 200 },
  { name: 'track: userId null', body: track({ userId: null }), status: 200 },
  { name: 'track: userId at its length', body: track({ userId: text(400) }), status: 200 },
  { name: 'track: userId over its length', body: track({ userId: text(401) }), status: 400, error: /userId/ },
  { name: 'track: userId empty', body: track({ userId: '' }), status: 400, error: /userId/ },
  { name: 'track: userId a number', body: track({ userId: 5 }), status: 400, error: /userId/ },
  { name: 'track: externalId null', body: track({ externalId: null }), status: 200 },
  {
    name: 'track: externalId over its length',
    body: track({ externalId: text(401) }),
    status: 400,
    error: /externalId/,
  },
  { name: 'track: email null', body: track({ email: null }), status: 200 },
  { name: 'track: email at its length', body: track({ email: text(1000) }), status: 200 },
  { name: 'track: email over its length', body: track({ email: text(1001) }), status: 400, error: /email/ },
  { name: 'track: time null', body: track({ time: null }), status: 200 },
  { name: 'track: time within 7 days', body: track({ time: Date.now() - 7 * dayMs + 60_000 }), status: 200 },
  {
    name: 'track: time older than 7 days',
    body: track({ time: Date.now() - 7 * dayMs - 1 }),
    status: 400,
    error: /time/,
  },
  { name: 'track: time within 5 minutes ahead', body: track({ time: Date.now() + 299_000 }), status: 200 },
  { name: 'track: time over 5 minutes ahead', body: track({ time: Date.now() + 310_000 }), status: 400, error: /time/ },
  { name: 'track: time a string', body: track({ time: '1700000000000' }), status: 400, error: /time/ },
  {
    name: 'track: time beyond all numbers',
    body: `{"token":"${token}","event":"a","time":1e999}`,
    status: 400,
    error: /time/,
  },
  { name: 'track: distinctId at its length', body: track({ distinctId: text(400) }), status: 200 },
  {
    name: 'track: distinctId over its length',
    body: track({ distinctId: text(401) }),
    status: 400,
    error: /distinctId/,
  },
  { name: 'track: distinctId empty', body: track({ distinctId: '' }), status: 400, error: /distinctId/ },
  {
    name: 'track: eventProperties and properties',
    body: track({ eventProperties: { a: 1 }, properties: { b: 2 } }),
    status: 200,
  },
  { name: 'track: eventProperties null', body: track({ eventProperties: null }), status: 200 },
  {
    name: 'track: eventProperties an array',
    body: track({ eventProperties: [] }),
    status: 400,
    error: /eventProperties/,
  },
  { name: 'track: properties a string', body: track({ properties: 'a' }), status: 400, error: /properties/ },
  { name: 'track: custom_properties', body: track({ custom_properties: { a: null } }), status: 200 },
  {
    name: 'track: custom_properties a string',
    body: track({ custom_properties: 'a' }),
    status: 400,
    error: /custom_properties/,
  },
  { name: 'track: userProperties null', body: track({ userProperties: null }), status: 200 },
  {
    name: 'track: a well-known property at its length',
    body: track({ userProperties: { first_name: text(2000) } }),
    status: 200,
  },
  {
    name: 'track: a well-known property over its length',
    body: track({ userProperties: { first_name: text(2001) } }),
    status: 400,
    error: /first_name/,
  },
  {
    name: 'track: a well-known property that is no string',
    body: track({ userProperties: { city: 5 } }),
    status: 400,
    error: /city/,
  },
  {
    name: 'track: a property of the caller of any length',
    body: track({ userProperties: { note: text(9000) } }),
    status: 200,
  },
  {
    name: 'track: defaultProperties',
    body: track({ defaultProperties: { current_url: 'https://a.test' } }),
    status: 200,
  },
  {
    name: 'track: defaultProperties a number',
    body: track({ defaultProperties: 3 }),
    status: 400,
    error: /defaultProperties/,
  },
  {
    name: 'track: identityContext',
    body: track({ identityContext: { ip: '192.0.2.1', userAgent: 'a' } }),
    status: 200,
  },
  {
    name: 'track: identityContext of wrong type',
    body: track({ identityContext: { ip: 5 } }),
    status: 400,
    error: /identityContext/,
  },
  // identify: fields
  { name: 'identify: the least it may hold', path: 'identify', body: identify({}), status: 200 },
  { name: 'identify: no userProperties', path: 'identify', body: { token }, status: 400, error: /userProperties/ },
  {
    name: 'identify: userProperties null',
    path: 'identify',
    body: identify({ userProperties: null }),
    status: 400,
    error: /userProperties/,
  },
  {
    name: 'identify: userProperties an array',
    path: 'identify',
    body: identify({ userProperties: [] }),
    status: 400,
    error: /userProperties/,
  },
  {
    name: 'identify: custom_properties inside',
    path: 'identify',
    body: identify({ userProperties: { custom_properties: { a: 1 } } }),
    status: 200,
  },
  {
    name: 'identify: custom_properties inside of wrong type',
    path: 'identify',
    body: identify({ userProperties: { custom_properties: 1 } }),
    status: 400,
    error: /userProperties\.custom_properties/,
  },
  {
    name: 'identify: externalId over its length',
    path: 'identify',
    body: identify({ externalId: text(401) }),
    status: 400,
    error: /externalId/,
  },
  // keys
  { name: 'key: missing', body: { event: 'a' }, status: 401 },
  { name: 'key: null', body: track({ token: null }), status: 401 },
  { name: 'key: unknown', body: track({ token: 'nobody' }), status: 401 },
  { name: 'key: unknown, and the event is wrong too', body: { token: 'nobody' }, status: 401 },
  { name: 'key: of a disabled source', body: track({ token: testSources.disabled.token }), status: 401 },
  { name: 'key: test key', body: track({ token: testSources.server.testToken }), status: 200 },
  { name: 'key: identify with an unknown key', path: 'identify', body: identify({ token: 'nobody' }), status: 401 },
  {
    name: 'key: batch with an unknown key',
    path: 'batch',
    body: { token: 'nobody', events: [] },
    status: 401,
    error: /token/,
  },
  // JSON
  { name: 'json: empty body', body: '', status: 400, error: /JSON/ },
  { name: 'json: truncated', body: '{"token":"a"', status: 400, error: /JSON/ },
  { name: 'json: not an object', body: '[]', status: 400, error: /object/ },
  { name: 'json: two documents', body: '{}{}', status: 400, error: /JSON/ },
  { name: 'json: trailing comma', body: `{"token":"${token}","event":"a",}`, status: 400, error: /JSON/ },
  { name: 'json: byte order mark', body: `\ufeff{"token":"${token}","event":"a"}`, status: 400 },
  {
    name: 'json: not UTF-8',
    body: Buffer.from(`{"token":"${token}","event":"\xff"}`, 'latin1'),
    status: 400,
    error: /UTF-8/,
  },
  { name: 'json: as deep as allowed', body: `{"token":"${token}","event":"a","x":${nested(63)}}`, status: 200 },
  { name: 'json: too deep', body: `{"token":"${token}","event":"a","x":${nested(64)}}`, status: 400, error: /deeper/ },
  {
    name: 'json: 100,000 levels',
    body: `{"token":"${token}","event":"a","x":${nested(100_000)}}`,
    status: 400,
    error: /deeper/,
  },
  {
    name: 'json: too many keys',
    body: track({ eventProperties: Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`k${i}`, 1])) }),
    status: 400,
    error: /keys/,
  },
  {
    name: 'json: __proto__',
    body: `{"token":"${token}","event":"a","eventProperties":{"__proto__":{"a":1}}}`,
    status: 400,
    error: /forbidden/,
  },
  {
    name: 'json: __proto__ in escapes',
    body: `{"token":"${token}","event":"a","\\u005f_proto__":{"a":1}}`,
    status: 400,
    error: /forbidden/,
  },
  {
    name: 'json: constructor.prototype',
    body: `{"token":"${token}","event":"a","constructor":{"prototype":{}}}`,
    status: 400,
    error: /forbidden/,
  },
  { name: 'json: a harmless constructor', body: track({ constructor: 'Lego' }), status: 200 },
  { name: 'json: null character', body: track({ event: 'a\u0000b' }), status: 400, error: /null/ },
  { name: 'json: half a surrogate pair is repaired', body: `{"token":"${token}","event":"\\ud83d"}`, status: 200 },
  { name: 'json: token twice', body: `{"token":"nobody","token":"${token}","event":"a"}`, status: 400, error: /twice/ },
  { name: 'json: line breaks', body: JSON.stringify(track({}), undefined, 2), status: 200 },
  // media types
  { name: 'type: none', body: Buffer.from(JSON.stringify(track({}))), headers: { 'content-type': '' }, status: 200 },
  { name: 'type: text/plain', body: track({}), headers: { 'content-type': 'text/plain;charset=UTF-8' }, status: 200 },
  {
    name: 'type: JSON with a charset',
    body: track({}),
    headers: { 'content-type': 'Application/JSON; charset=utf-8' },
    status: 200,
  },
  {
    name: 'type: a form',
    body: 'a=b',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    status: 415,
    error: /JSON/,
  },
  {
    name: 'type: XML in a batch',
    path: 'batch',
    body: '<a/>',
    headers: { 'content-type': 'text/xml' },
    status: 415,
    error: /JSON/,
  },
  {
    name: 'encoding: gzip on track',
    body: gzipSync(JSON.stringify(track({}))),
    headers: { 'content-encoding': 'gzip' },
    status: 415,
  },
  {
    name: 'encoding: brotli on batch',
    path: 'batch',
    body: 'a',
    headers: { 'content-encoding': 'br' },
    status: 415,
    error: /encoding/,
  },
  // sizes
  { name: 'size: track at 1 MiB', body: sized(1024 ** 2), status: 200 },
  { name: 'size: track over 1 MiB', body: sized(1024 ** 2 + 1), status: 413 },
  { name: 'size: track of 2 MiB', body: sized(2 * 1024 ** 2), status: 413 },
  { name: 'size: identify of 2 MiB', path: 'identify', body: sized(2 * 1024 ** 2), status: 413 },
  // where requests come from
  {
    name: 'domain: allowed',
    body: track({ token: testSources.domains.token }),
    headers: { origin: 'https://example.com' },
    status: 200,
  },
  {
    name: 'domain: below an allowed one',
    body: track({ token: testSources.domains.token }),
    headers: { origin: 'https://www.example.com:8443' },
    status: 200,
  },
  {
    name: 'domain: entry written as an address',
    body: track({ token: testSources.domains.token }),
    headers: { origin: 'http://shop.test' },
    status: 200,
  },
  {
    name: 'domain: another one',
    body: track({ token: testSources.domains.token }),
    headers: { origin: 'https://badexample.com' },
    status: 403,
  },
  {
    name: 'domain: opaque origin',
    body: track({ token: testSources.domains.token }),
    headers: { origin: 'null' },
    status: 403,
  },
  {
    name: 'domain: by the referer',
    body: track({ token: testSources.domains.token }),
    headers: { referer: 'https://evil.test/a' },
    status: 403,
  },
  { name: 'domain: none named', body: track({ token: testSources.domains.token }), status: 200 },
  {
    name: 'address: in an IPv4 range',
    body: track({ token: testSources.addresses.token }),
    headers: { 'x-forwarded-for': '10.20.30.40' },
    status: 200,
  },
  {
    name: 'address: a single one',
    body: track({ token: testSources.addresses.token }),
    headers: { 'x-forwarded-for': '192.0.2.7' },
    status: 200,
  },
  {
    name: 'address: in an IPv6 range',
    body: track({ token: testSources.addresses.token }),
    headers: { 'x-forwarded-for': '2001:db8::1' },
    status: 200,
  },
  {
    name: 'address: an IPv4 address mapped into IPv6',
    body: track({ token: testSources.addresses.token }),
    headers: { 'x-forwarded-for': '::ffff:10.1.1.1' },
    status: 200,
  },
  {
    name: 'address: outside',
    body: track({ token: testSources.addresses.token }),
    headers: { 'x-forwarded-for': '192.0.2.8' },
    status: 403,
  },
  {
    name: 'address: claimed in front of the proxy',
    body: track({ token: testSources.addresses.token }),
    headers: { 'x-forwarded-for': '10.1.1.1, 192.0.2.8' },
    status: 403,
  },
  { name: 'address: the connection itself', body: track({ token: testSources.addresses.token }), status: 403 },
  { name: 'address: a list nobody can match', body: track({ token: testSources.brokenAddresses.token }), status: 403 },
  // addresses of the interface
  { name: 'route: unknown', path: 'nothing', body: {}, status: 404 },
  { name: 'route: trailing slash', path: 'track/', body: track({}), status: 200 },
];

/** A track body of exactly this many bytes. */
function sized(bytes: number): string {
  const empty = JSON.stringify(track({ filler: '' }));
  return JSON.stringify(track({ filler: text(bytes - empty.length) }));
}

test.each(rows)('contract: $name → $status', async ({ path = 'track', body, headers, status, error }) => {
  const answer = await post(path, body, headers);
  expect(answer.status).toBe(status);
  expect(answer.body['success']).toBe(status === 200);
  if (status === 200) expect(answer.body).toEqual({ success: true });
  if (error !== undefined) expect(answer.body['error']).toMatch(error);
});

async function post(
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; headers: Headers; body: Record<string, unknown> }> {
  const payload = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  const answer = await fetch(`${gateway.url}/api/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof payload === 'string' ? payload : new Uint8Array(payload),
  });
  const received = await answer.text();
  return { status: answer.status, headers: answer.headers, body: JSON.parse(received) as Record<string, unknown> };
}

test('contract: an event rests in the log as it came, without its key', async () => {
  const body = `{ "event":"Kept","token":"${token}", "distinctId":"kept-1","n":1.50,\n"nested":{"a":[1,"\\u00e9"]},"again":"${token}" }`;
  expect(
    (await post('track', body, { 'user-agent': 'Mozilla/5.0 (test)', 'x-forwarded-for': '198.51.100.9' })).status,
  ).toBe(200);
  const kept = (await log.envelopes()).find((envelope) => envelope.id === 'kept-1');
  const stars = '*'.repeat(token.length);
  expect(kept).toMatchObject({
    v: 1,
    kind: 'track',
    account: 'account-1',
    source: 'server',
    ip: '198.51.100.9',
    ua: 'Mozilla/5.0 (test)',
    body: { event: 'Kept', n: 1.5, nested: { a: [1, 'é'] }, token: stars, again: stars },
  });
  expect(kept?.at).toBeGreaterThan(Date.now() - 10_000);
  const raw = await log.rawFrames();
  expect(raw).toContain('"n":1.50');
  for (const source of allTestSources) expect(raw).not.toContain(source.token);
});

test('contract: an event without an id gets one', async () => {
  await post('track', track({ event: 'Nameless', userId: 'nameless' }));
  const found = (await log.envelopes()).find((envelope) => envelope.body['userId'] === 'nameless');
  expect(found?.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('contract: a test key marks its events', async () => {
  await post('track', track({ token: testSources.server.testToken, distinctId: 'tested' }));
  expect((await log.envelopes()).find((envelope) => envelope.id === 'tested')?.test).toBe(true);
});

test('contract: a source that excludes the request context keeps none of it', async () => {
  await post('track', track({ token: testSources.discreet.token, distinctId: 'discreet' }));
  const found = (await log.envelopes()).find((envelope) => envelope.id === 'discreet');
  expect(found).toBeDefined();
  expect(found).not.toHaveProperty('ip');
  expect(found).not.toHaveProperty('ua');
});

test('contract: events of a source with bot control carry a score', async () => {
  const send = (distinctId: string, fields: object, userAgent: string) =>
    post('track', track({ token: testSources.bots.token, distinctId, ...fields }), { 'user-agent': userAgent });
  const browser =
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36';
  await send('crawler', {}, 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)');
  await send('browser', {}, browser);
  await send('said', { defaultProperties: { is_bot: true } }, browser);
  await send('behind', { identityContext: { userAgent: browser } }, 'curl/8.0');
  const scores = new Map((await log.envelopes()).map((envelope) => [envelope.id, envelope.bot]));
  expect(['crawler', 'browser', 'said', 'behind'].map((id) => scores.get(id))).toEqual([100, 0, 100, 0]);
});

test('contract: a wrong method is 405 and names the right one', async () => {
  const answer = await fetch(`${gateway.url}/api/v1/track`);
  expect(answer.status).toBe(405);
  expect(answer.headers.get('allow')).toBe('POST, OPTIONS');
});

test('contract: lastTriggeredAt of a source is there within 5 s', async () => {
  const before = Date.now();
  await post('track', track({ token: testSources.web.token }));
  const lastTriggeredAt = async (): Promise<number> => Math.max(0, ...(await log.lastTriggeredAt('web')));
  await expect.poll(lastTriggeredAt, { timeout: 5_000 }).toBeGreaterThanOrEqual(before);
});

test('batch: every row taken is 200 with results in order', async () => {
  const events = Array.from({ length: 20 }, (_, i) => ({ event: 'Row', distinctId: `row-${i}`, userId: `user-${i}` }));
  const answer = await post('batch', { token, events });
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    success: true,
    accepted: 20,
    failed: 0,
    results: events.map((_, index) => ({ index, success: true })),
  });
  const ids = (await log.envelopes()).map((envelope) => envelope.id);
  for (const { distinctId } of events) expect(ids).toContain(distinctId);
});

test('batch: mixed rows are 207, and each failed one says why', async () => {
  const row = (fields: object): object => ({ event: 'Row', distinctId: 'mixed', ...fields });
  const events = [
    row({ distinctId: 'mixed-0' }),
    { event: 'Row' },
    row({ event: 5 }),
    'no object',
    null,
    row({ time: 5 }),
    row({ eventProperties: { filler: text(65_536) } }),
    row({ distinctId: 'mixed-7', token }),
    row({ eventProperties: { deep: JSON.parse(nested(64)) as unknown } }),
    row({ event: 'a\u0000' }),
  ];
  const answer = await post('batch', { token, events });
  expect(answer.status).toBe(207);
  const results = answer.body['results'] as { index: number; success: boolean; code?: string; message?: string }[];
  expect(answer.body).toMatchObject({ success: false, accepted: 2, failed: 8 });
  expect(results.map((result) => result.index)).toEqual(events.map((_, index) => index));
  expect(results.map((result) => result.success)).toEqual([
    true,
    false,
    false,
    false,
    false,
    false,
    false,
    true,
    false,
    false,
  ]);
  for (const result of results) if (!result.success) expect(result.code).toBe('invalid_event');
  const messages = results.map((result) => result.message ?? '');
  expect(messages[1]).toMatch(/distinctId/);
  expect(messages[2]).toMatch(/event/);
  expect(messages[3]).toMatch(/object/);
  expect(messages[5]).toMatch(/time/);
  expect(messages[6]).toMatch(/65536 bytes/);
  expect(messages[8]).toMatch(/deeper/);
  const seventh = (await log.envelopes()).find((envelope) => envelope.id === 'mixed-7');
  expect(seventh?.body['token']).toBe('*'.repeat(token.length));
});

test('batch: rows that are not UTF-8 or reach for a prototype fail alone', async () => {
  const body = Buffer.concat([
    Buffer.from(`{"token":"${token}","events":[{"event":"a","distinctId":"u-0"},{"event":"`),
    Buffer.from([0xc3, 0x28]),
    Buffer.from(
      `","distinctId":"u-1"},{"event":"a","distinctId":"u-2","__proto__":{"x":1}},{"event":"é","distinctId":"u-3"}]}`,
    ),
  ]);
  const answer = await post('batch', body);
  expect(answer.status).toBe(207);
  const results = answer.body['results'] as { success: boolean }[];
  expect(results.map((result) => result.success)).toEqual([true, false, false, true]);
});

test('batch: when no row is valid it is 400 and not worth a retry', async () => {
  const answer = await post('batch', { token, events: [{ event: 'a' }, 5] });
  expect(answer.status).toBe(400);
  expect(answer.body).toMatchObject({ success: false, retryable: false, error: expect.any(String) as string });
  expect(answer.body['results']).toHaveLength(2);
});

test('batch: nothing to take is a success of nothing', async () => {
  expect((await post('batch', { token, events: [] })).body).toEqual({
    success: true,
    accepted: 0,
    failed: 0,
    results: [],
  });
});

test.each([
  { name: 'no events', body: { token }, error: /events/ },
  { name: 'events not an array', body: { token, events: {} }, error: /events/ },
  {
    name: 'defaultProperties of the wrong type',
    body: { token, events: [], defaultProperties: 1 },
    error: /defaultProperties/,
  },
  { name: 'events twice', body: `{"token":"${token}","events":[],"events":[]}`, error: /twice/ },
])('batch: $name is 400', async ({ body, error }) => {
  const answer = await post('batch', body);
  expect(answer.status).toBe(400);
  expect(answer.body['error']).toMatch(error);
});

test('batch: more rows than allowed are 413 with the limit in rows', async () => {
  const events = Array.from({ length: 1001 }, (_, i) => ({ event: 'a', distinctId: String(i) }));
  const answer = await post('batch', { token, events });
  expect(answer.status).toBe(413);
  expect(answer.body).toMatchObject({ success: false, limit: 1000, error: expect.any(String) as string });
});

test('batch: more bytes than allowed are 413 with the limit in bytes', async () => {
  const answer = await post('batch', { token, events: [], filler: text(5 * 1024 ** 2) });
  expect(answer.status).toBe(413);
  expect(answer.body).toMatchObject({ success: false, limit: 5 * 1024 ** 2 });
});

test('batch: what it says for all rows travels with each of them', async () => {
  const events = [{ event: 'a', distinctId: 'ctx-1' }];
  const fields = {
    defaultProperties: { os_name: 'Linux' },
    identityContext: { ip: '192.0.2.1' },
    custom_properties: { a: 1 },
  };
  await post('batch', { token, events, ...fields });
  expect((await log.envelopes()).find((envelope) => envelope.id === 'ctx-1')?.ctx).toEqual(fields);
});

test('batch: gzip is read', async () => {
  const zipped = gzipSync(JSON.stringify({ token, events: [{ event: 'a', distinctId: 'zipped' }] }));
  expect((await post('batch', zipped, { 'content-encoding': 'gzip' })).status).toBe(200);
  expect((await log.envelopes()).map((envelope) => envelope.id)).toContain('zipped');
});

test.each([
  { name: 'that is none', body: Buffer.from('plain'), status: 400 },
  { name: 'cut short', body: gzipSync('{"token":"a","events":[]}').subarray(0, 20), status: 400 },
  { name: 'that unpacks beyond the limit', body: gzipSync(Buffer.alloc(6 * 1024 ** 2, 0x20)), status: 413 },
  { name: 'that unpacks to a thousand times its size', body: gzipSync(Buffer.alloc(4 * 1024 ** 2, 0x20)), status: 413 },
])('batch: gzip $name is $status', async ({ body, status }) => {
  expect((await post('batch', body, { 'content-encoding': 'gzip' })).status).toBe(status);
});

test('cors: a preflight is answered for every origin', async () => {
  const headers = {
    origin: 'https://shop.test',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type',
  };
  const answer = await fetch(`${gateway.url}/api/v1/track`, { method: 'OPTIONS', headers });
  expect(answer.status).toBe(204);
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  expect(answer.headers.get('access-control-allow-methods')).toContain('POST');
  expect(answer.headers.get('access-control-allow-headers')).toContain('content-type');
});

test('cors: a page may read the answer of a WebSource only', async () => {
  const origin = { origin: 'https://shop.test' };
  const web = await post('track', track({ token: testSources.web.token }), origin);
  const server = await post('track', track({}), origin);
  expect(web.headers.get('access-control-allow-origin')).toBe('*');
  expect(server.headers.get('access-control-allow-origin')).toBeNull();
});

test('pixel: answers with an image, a cookie, and stores the event', async () => {
  const address = `${gateway.url}/pixel/${testSources.web.token}.gif?event=Seen&utm_source=mail&plan=pro&distinctId=pixel-1`;
  const first = await fetch(address);
  expect(first.status).toBe(200);
  expect(first.headers.get('content-type')).toBe('image/gif');
  expect(
    Buffer.from(await first.arrayBuffer())
      .subarray(0, 6)
      .toString(),
  ).toBe('GIF89a');
  const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? '';
  await fetch(address.replace('pixel-1', 'pixel-2'), { headers: { cookie } });
  const bodies = new Map((await log.envelopes()).map((envelope) => [envelope.id, envelope.body]));
  const [one, two] = [bodies.get('pixel-1'), bodies.get('pixel-2')];
  expect(one).toMatchObject({
    event: 'Seen',
    eventProperties: { plan: 'pro' },
    defaultProperties: { utm_source: 'mail' },
  });
  expect(one?.['userId']).toBe(two?.['userId']);
  expect(cookie).toContain(String(one?.['userId']));
});

test.each([
  { name: 'an unknown key', path: '/pixel/nobody.gif?event=a', status: 401 },
  { name: 'no event', path: `/pixel/${testSources.web.token}.gif`, status: 400 },
  { name: 'no image', path: `/pixel/${testSources.web.token}?event=a`, status: 401 },
])('pixel: $name is $status', async ({ path, status }) => {
  expect((await fetch(`${gateway.url}${path}`)).status).toBe(status);
});

test('redirect: leads to the redirectUrl of the source and tracks an event of its name', async () => {
  const answer = await fetch(
    `${gateway.url}/redirect/link?email=a%40b.test&distinctId=redirect-1&to=https://evil.test`,
    {
      redirect: 'manual',
    },
  );
  expect(answer.status).toBe(302);
  expect(answer.headers.get('location')).toBe('https://example.com/landing?a=b');
  const found = (await log.envelopes()).find((envelope) => envelope.id === 'redirect-1');
  expect(found?.body).toMatchObject({ event: 'link', email: 'a@b.test', eventProperties: { to: 'https://evil.test' } });
});

test.each(['nobody', 'server', 'bad-link', '%ff'])('redirect: %s is no link', async (code) => {
  expect((await fetch(`${gateway.url}/redirect/${code}`, { redirect: 'manual' })).status).toBe(404);
});

test('webhook: the body becomes the properties of an event named as the source', async () => {
  const address = `${gateway.url}/webhook/${testSources.hook.token}?distinctId=`;
  const send = (id: string, body: string, type: string) =>
    fetch(`${address}${id}`, { method: 'POST', body, headers: { 'content-type': type } });
  expect((await send('hook-json', '{"order":{"id":7}}', 'application/json')).status).toBe(200);
  expect((await send('hook-form', 'order=7&tag=a&tag=b', 'application/x-www-form-urlencoded')).status).toBe(200);
  expect((await send('hook-array', '[1]', 'application/json')).status).toBe(400);
  expect((await send('hook-xml', '<a/>', 'application/xml')).status).toBe(415);
  const bodies = new Map((await log.envelopes()).map((envelope) => [envelope.id, envelope.body]));
  expect(bodies.get('hook-json')).toMatchObject({ event: 'Order hook', eventProperties: { order: { id: 7 } } });
  expect(bodies.get('hook-form')).toMatchObject({ eventProperties: { order: '7', tag: ['a', 'b'] } });
  expect(bodies.has('hook-array')).toBe(false);
});

test('openapi: describes every door, for everyone', async () => {
  const answer = await fetch(`${gateway.url}/api/v1/openapi`, { headers: { origin: 'https://shop.test' } });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  const document = (await answer.json()) as { openapi: string; paths: Record<string, unknown> };
  expect(document.openapi).toBe('3.1.0');
  expect(Object.keys(document.paths)).toEqual([
    '/api/v1/track',
    '/api/v1/identify',
    '/api/v1/batch',
    '/pixel/{token}.gif',
    '/redirect/{code}',
    '/webhook/{token}',
    '/api/v1/openapi',
  ]);
});

test('configuration: a source that is published, disabled and removed takes events accordingly', async () => {
  const added = {
    token: 'src_live_added_0123456789',
    entity: { id: 'added', name: 'added', type: 'NodejsApi', status: 'Enabled' },
  };
  const status = async (): Promise<number> => (await post('track', track({ token: added.token }))).status;
  expect(await status()).toBe(401);
  await log.publishSources([...allTestSources, added]);
  await expect.poll(status).toBe(200);
  await log.publishSources([...allTestSources, { ...added, entity: { ...added.entity, status: 'Disabled' } }]);
  await expect.poll(status).toBe(401);
  await log.publishSources([...allTestSources, added]);
  await expect.poll(status).toBe(200);
  await log.publishSources(allTestSources);
  await expect.poll(status).toBe(401);
});
