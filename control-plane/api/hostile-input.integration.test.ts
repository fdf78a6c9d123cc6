import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endpoints } from '../endpoints.ts';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;
let client: Client;

beforeAll(async () => {
  plane = await startTestControlPlane();
  client = await plane.newAccount();
});
afterAll(() => plane.stop());

const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;

test.each([
  ['malformed JSON', '{"type":', 400],
  ['nothing', '', 400],
  ['null', 'null', 400],
  ['an array', '[]', 400],
  ['a text', '"x"', 400],
  ['a number', '7', 400],
  ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22]), 400],
  ['a byte order mark', Buffer.from('\ufeff{}'), 400],
  ['__proto__', '{"type":"NodejsApi","__proto__":{"admin":true}}', 400],
  ['constructor.prototype', '{"type":"NodejsApi","constructor":{"prototype":{}}}', 400],
  ['deep nesting', `{"type":"NodejsApi","probabilisticIdentity":{"a":${nested(100_000)}}}`, 400],
  ['a NUL character', '{"type":"NodejsApi","name":"a\\u0000b"}', 400],
  ['half a surrogate pair', '{"type":"NodejsApi","name":"a\\ud800b"}', 400],
  ['a NUL in a key', '{"type":"NodejsApi","probabilisticIdentity":{"a\\u0000":1}}', 400],
  ['a number beyond doubles', '{"type":"NodejsApi","botScoreThreshold":1e400}', 400],
  ['a name of 10,000 characters', JSON.stringify({ type: 'NodejsApi', name: 'x'.repeat(10_000) }), 400],
  ['a body of 2 MiB', JSON.stringify({ type: 'NodejsApi', name: 'x'.repeat(2 * 1024 ** 2) }), 413],
])('bodies: %s is refused', async (_case, raw, status) => {
  const answer = await client.call('POST', '/sources', { raw });
  expect(answer.status).toBe(status);
  expect(answer.body.error).toEqual(expect.any(String));
  expect(answer.headers['x-request-id']).toEqual(expect.any(String));
});

test.each([
  // The body and the field account for two of the 64 levels.
  [`{"a":${nested(62)}}`, undefined],
  [`{"a":${nested(63)}}`, 'probabilisticIdentity must not nest deeper than 64 levels'],
  [`{"a":${nested(100_000)}}`, 'probabilisticIdentity must not nest deeper than 64 levels'],
  [`{"a":"${nested(200)}"}`, undefined],
])('bodies: a field is refused only if it nests deeper than 64 levels (case %#)', async (identity, error) => {
  const raw = `{"type":"NodejsApi","name":"deep","probabilisticIdentity":${identity}}`;
  const answer = await client.call('POST', '/sources', { raw });
  expect(answer).toMatchObject(error === undefined ? { status: 200 } : { status: 400, body: { error } });
});

test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'multipart/form-data; boundary=x'])(
  'bodies: %s is 415',
  async (type) => {
    const answer = await client.call('POST', '/sources', { raw: '{}', headers: { 'content-type': type } });
    expect(answer).toMatchObject({ status: 415, body: { error: expect.any(String) } });
  },
);

test('bodies: a charset and Unicode text are accepted, and SQL is only text', async () => {
  const name = `Ünïcode 🎉 '; drop table entities; -- " \\ %_`;
  const answer = await client.call('POST', '/sources', {
    raw: JSON.stringify({ type: 'NodejsApi', name }),
    headers: { 'content-type': 'application/json; charset=utf-8' },
  });
  expect(answer).toMatchObject({ status: 200, body: { name } });
  const found = await client.get(`/sources?nameContains=${encodeURIComponent("'; DROP TABLE")}`);
  expect(found.body.entities).toHaveLength(1);
});

test.each([
  '/destinations/not-a-uuid',
  '/destinations/%00',
  '/destinations/%27%20or%201%3D1',
  `/destinations/${'x'.repeat(300)}`,
  '/versions/not-a-uuid',
  '/versions/not-a-uuid/diff',
  '/versions/not-a-uuid/snapshot',
  '/sources/%F0%9F%8E%89',
  '/collections/allowedEvents/..%2f..%2fetc',
  '/collections/nothing',
  '/nothing',
  '/keys',
])('addresses: %s is answered with a clean 4xx or 200', async (path) => {
  const answer = await client.get(path);
  expect([200, 404]).toContain(answer.status);
  if (answer.status === 404) expect(answer.body).toEqual({ error: expect.stringMatching(/not found$/) });
});

test.each([
  ['/destinations/%E0%A4%A', 400],
  ['/sources?nameContains=%00', 400],
  ['/sources?limit=ten', 400],
  ['/sources?limit=1.5', 400],
  ['/sources?limit=', 400],
  ['/sources?limit=1&limit=2', 400],
  ['/sources?status=enabled', 400],
  ['/versions?isPublished=yes', 400],
  ['/versions/draft/diff?against=nope', 400],
  ['/versions/draft/status', 400],
  ['/versions/draft/status?collection=sources', 400],
  ['/versions/draft/status?collection=sources&entityId=', 400],
  ['/versions/draft/status?collection=experiments&entityId=x', 400],
  ['/audit?from=2026-06-30T23:59:60Z', 400],
  ['/audit?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 400],
  ['/quarantine?to=2026-06-30T23:59:60Z', 400],
  ['/violations?from=2026-06-30T23:59:60Z&to=2026-07-01T00:00:00Z', 400],
  ['/events/counts?firstDay=0000-01-01', 400],
  ['/events/counts?firstDay=0001-01-01&lastDay=9999-12-31', 200],
  ['/sources?limit=0', 200],
  ['/sources?limit=-5', 200],
  ['/sources?limit=99999999999999999999999', 200],
])('queries: %s is %i', async (path, status) => {
  const answer = await client.get(path);
  expect(answer.status).toBe(status);
});

test.each<[path: string, name: string, details: RegExp, meant?: string]>([
  ['/sources?unknown=1', 'unknown', /limit, cursor/],
  ['/sources?limit=1&Limit=2', 'Limit', /limit, cursor/, 'limit'],
  ['/events?vistorId=a', 'vistorId', /visitorId/, 'visitorId'],
  ['/destinations/types?limit=5', 'limit', /none/],
  ['/versions/draft/diff?__proto__=1', '__proto__', /against/],
  [`/sources?${'x'.repeat(5_000)}`, 'x'.repeat(100), /limit/],
])('queries: %s is refused, naming the unknown parameter', async (path, name, details, meant) => {
  const answer = await client.get(path);
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  const error = `${name} is not a query parameter of this address${hint}`;
  expect(answer).toMatchObject({ status: 400, body: { error } });
  expect(answer.body.details).toMatch(details);
});

test('queries: an unknown query parameter is refused before anything is changed', async () => {
  const { body: source } = await client.post('/sources', { type: 'NodejsApi' });
  expect((await client.delete(`/sources/${source.id}?force=true`)).status).toBe(400);
  expect((await client.get(`/sources/${source.id}`)).status).toBe(200);
});

const hostileSegments = {
  'of 2,000 characters': 'x'.repeat(2_000),
  'of 1,024 characters': 'x'.repeat(1_024),
  'of 400 characters beyond the basic plane': '%F0%9F%8E%89'.repeat(400),
  'with a NUL': 'a%00b',
  'that is a NUL': '%00',
  'that is not UTF-8': '%FF%FE',
  'with half a surrogate pair': '%ED%A0%80',
  'with an escape cut short': '%E0%A4%A',
  'with a slash': 'a%2Fb',
  'with wildcards of the log': 'a.*.%3E',
  'with a space': 'a%20b',
  'named as what every object has': '__proto__',
};

test.each(Object.entries(hostileSegments))(
  'addresses: an id %s is a 4xx, wherever there is one',
  async (_case, segment) => {
    for (const endpoint of endpoints) {
      if (!endpoint.path.includes('{')) continue;
      const path = endpoint.path.replaceAll(/\{\w+\}/g, segment).replace('/rest/v1', '');
      const { status, body } = await client.call(endpoint.method, path, endpoint.method === 'GET' ? {} : { body: {} });
      const refused = status >= 400 && status < 500 && typeof body.error === 'string';
      expect({ endpoint: endpoint.id, refused, status }).toEqual({ endpoint: endpoint.id, refused: true, status });
    }
  },
);

test('methods: a method that an address does not support is a 404 with an error', async () => {
  const answer = await client.call('PUT', '/destinations', { body: {} });
  expect(answer).toMatchObject({ status: 404, body: { error: expect.any(String) } });
});

test('connections: bytes that are not HTTP get a 400 with an error', async () => {
  const { port } = new URL(plane.baseUrl);
  const text = await new Promise<string>((resolve, reject) => {
    let received = '';
    const socket = connect(Number(port), '127.0.0.1', () => socket.write('NONSENSE\r\n\r\n'));
    socket.on('data', (bytes) => (received += String(bytes)));
    socket.on('end', () => resolve(received));
    socket.on('error', reject);
  });
  expect(text).toMatch(/^HTTP\/1\.1 400 /);
  expect(text).toMatch(/\{"error":"[^"]+"\}$/);
});
