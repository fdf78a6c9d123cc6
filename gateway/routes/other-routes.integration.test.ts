import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { track, nestedMixed } from '../testing/contract-row.ts';
import { keepConnection } from '../testing/kept-connection.ts';
import { rawPost, sendRaw } from '../testing/raw-request.ts';
import { startRouteRig } from '../testing/route-rig.ts';
import type { RouteRig } from '../testing/route-rig.ts';
import { testSources } from '../testing/test-sources.ts';

let rig: RouteRig;
beforeAll(async () => {
  rig = await startRouteRig();
});
afterAll(() => rig.stop());

const waysIn = [
  ['POST', '/api/v1/track'],
  ['POST', '/api/v1/identify'],
  ['POST', '/api/v1/batch'],
  ['GET', `/pixel/${testSources.web.token}.gif?event=Seen`],
  ['GET', '/redirect/link'],
  ['POST', `/webhook/${testSources.hook.token}`],
  ['POST', '/api/v1/experiments/assignments/any'],
  ['POST', '/api/v1/experiments/personalization'],
  ['GET', '/sluice.js'],
  ['GET', `/sluice/settings/${testSources.web.token}`],
  ['POST', '/v1/t'],
  ['POST', '/v1/batch'],
  ['GET', `/v1/projects/${testSources.web.token}/settings`],
  ['POST', '/beacon/v1/batch'],
  ['GET', `/sourceConfig?writeKey=${testSources.web.token}`],
  ['POST', '/batch/'],
  ['POST', '/e/'],
  ['GET', '/api/v1/openapi'],
  ['POST', '//v1//t'],
  ['GET', '/no/such/address'],
] as const;

const page = 'https://shop.test';
const ofTracers = 'baggage,content-type,newrelic,request-id,sentry-trace,x-datadog-origin,x-datadog-trace-id';

test.each(waysIn.filter(([, path]) => !path.startsWith('/no/')))(
  'cors: %s %s may be asked by a page whose tracer adds headers',
  async (method, path) => {
    const answer = await fetch(`${rig.gateway.url}${path}`, {
      method: 'OPTIONS',
      headers: {
        origin: page,
        'access-control-request-method': method,
        'access-control-request-headers': ofTracers,
        'access-control-request-private-network': 'true',
      },
    });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('access-control-allow-origin')).toBe(page);
    expect(answer.headers.get('access-control-allow-credentials')).toBe('true');
    expect(answer.headers.get('access-control-allow-methods')).toContain(method);
    expect(answer.headers.get('access-control-allow-headers')).toBe(ofTracers.replaceAll(',', ', '));
    expect(answer.headers.get('access-control-allow-private-network')).toBe('true');
    expect(answer.headers.get('vary')).toContain('access-control-request-headers');
  },
);

/** A Cookie header of this size. A collector on a site's domain receives all cookies of the site. */
const cookiesOf = (bytes: number): string => `c=${'0'.repeat(bytes - 2)}`;

test.each(waysIn)('head: %s %s answers with 12 KB of cookies as without', async (method, path) => {
  const ask = async (headers: Readonly<Record<string, string>>): Promise<number> =>
    (await fetch(`${rig.gateway.url}${path}`, { method, headers, redirect: 'manual' })).status;
  expect(await ask({ cookie: cookiesOf(12_000) })).toBe(await ask({}));
});

test('head: a request head of 16 KiB is accepted, in any pieces, and the connection stays open; a larger head is a 431', async () => {
  const body = JSON.stringify(track({ token: testSources.web.token, distinctId: 'large-head' }));
  const lines = ['Content-Type: text/plain', `Content-Length: ${body.length}`];
  const request = (headBytes: number): string => {
    const bare = rawPost('/api/v1/track', [...lines, 'Cookie: '], '');
    return rawPost('/api/v1/track', [...lines, `Cookie: ${cookiesOf(headBytes - bare.length)}`], body);
  };
  const whole = request(16 * 1024);
  const connection = await keepConnection(rig.gateway.port);
  for (const sent of [whole, request(5_000), whole]) expect((await connection.ask(sent)).status).toBe(200);
  connection.destroy();
  const pieces = [whole.slice(0, 5_000), { waitMs: 5 }, whole.slice(5_000, 9_000), { waitMs: 5 }, whole.slice(9_000)];
  expect((await sendRaw(rig.gateway.port, pieces)).statuses).toEqual([200]);
  expect((await sendRaw(rig.gateway.port, [request(20_000)], 'closed')).statuses).toEqual([431]);
});

test.each(waysIn)('cors: the answer of %s %s may be read by every page', async (method, path) => {
  const answer = await fetch(`${rig.gateway.url}${path}`, { method, headers: { origin: page }, redirect: 'manual' });
  const isForAll = path === '/sluice.js' || path === '/api/v1/openapi';
  expect(answer.headers.get('access-control-allow-origin')).toBe(isForAll ? '*' : page);
  const isKept = answer.headers.get('cache-control')?.includes('max-age') === true;
  expect(answer.headers.get('vary')).toBe(isKept && !isForAll ? 'origin' : null);
});

test('cors: a page may read the answer whatever key it sends, and also if the request is refused', async () => {
  const ask = async (body: object, headers = {}): Promise<readonly [number, string | null]> => {
    const answer = await rig.post('track', body, { origin: page, ...headers });
    return [answer.status, answer.headers.get('access-control-allow-origin')];
  };
  expect(await ask(track({ token: testSources.web.token }))).toEqual([200, page]);
  expect(await ask(track({}))).toEqual([200, page]);
  expect(await ask(track({ token: 'nobody' }))).toEqual([401, page]);
  expect(await ask({ token: testSources.web.token })).toEqual([400, page]);
  expect(await ask(track({ token: testSources.domains.token }), { origin: 'https://evil.test' })).toEqual([
    403,
    'https://evil.test',
  ]);
  expect(await ask(track({}), { 'content-type': 'application/xml' })).toEqual([415, page]);
  expect((await rig.post('track', 'x'.repeat(1_100_000), { origin: page })).status).toBe(413);
  const wrongMethod = await fetch(`${rig.gateway.url}/api/v1/track`, { method: 'PUT', headers: { origin: page } });
  expect([wrongMethod.status, wrongMethod.headers.get('access-control-allow-origin')]).toEqual([405, page]);
});

test('pixel: answers with an image, a cookie, and stores the event', async () => {
  const address = `${rig.gateway.url}/pixel/${testSources.web.token}.gif?event=Seen&utm_source=mail&plan=pro&distinctId=pixel-1`;
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
  const bodies = new Map((await rig.log.envelopes()).map((envelope) => [envelope.id, envelope.body]));
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
  { proto: undefined, secure: false },
  { proto: 'http', secure: false },
  { proto: 'HTTPS', secure: true },
  { proto: 'https, http', secure: true },
  { proto: 'http, https', secure: false },
])('visitor cookie: Secure is $secure where the proxy forwards $proto', async ({ proto, secure }) => {
  const headers: Record<string, string> = proto === undefined ? {} : { 'x-forwarded-proto': proto };
  for (const path of [`/pixel/${testSources.web.token}.gif?event=Seen`, '/redirect/link']) {
    const answer = await fetch(`${rig.gateway.url}${path}`, { headers, redirect: 'manual' });
    const attributes = answer.headers.get('set-cookie')?.split('; ') ?? [];
    expect(attributes).toEqual(expect.arrayContaining(['HttpOnly', 'SameSite=Lax']));
    expect([path, attributes.includes('Secure')]).toEqual([path, secure]);
  }
});

test('encodings: x-gzip is gzip, and a 415 names the encodings that are read', async () => {
  const { token } = testSources.web;
  const row = { event: 'Packed', distinctId: 'packed-own' };
  const message = { type: 'track', event: 'Packed', anonymousId: 'a', messageId: 'packed-spec' };
  const ways = [
    { path: '/api/v1/batch', body: { token, events: [row] }, reads: 'gzip, identity' },
    {
      path: `/webhook/${testSources.hook.token}?event=Packed&distinctId=packed-hook`,
      body: {},
      reads: 'gzip, identity',
    },
    { path: '/v1/batch', body: { writeKey: token, batch: [message] }, reads: 'gzip, identity' },
    { path: '/api/v1/track', body: { token, event: 'a' }, reads: 'identity' },
    { path: '/api/v1/identify', body: { token, userProperties: {} }, reads: 'identity' },
  ];
  for (const { path, body, reads } of ways) {
    const send = (encoding: string) =>
      fetch(`${rig.gateway.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-encoding': encoding },
        body: gzipSync(JSON.stringify(body)),
      });
    for (const encoding of reads === 'identity' ? ['gzip', 'x-gzip', 'br'] : ['deflate', 'br', 'zstd']) {
      const refused = await send(encoding);
      expect([path, refused.status, refused.headers.get('accept-encoding')]).toEqual([path, 415, reads]);
    }
    if (reads !== 'identity') expect([path, (await send('X-GZIP')).status]).toEqual([path, 200]);
  }
  const stored = new Set((await rig.log.envelopes()).map(({ id }) => id));
  expect(['packed-own', 'packed-hook', 'packed-spec'].filter((id) => !stored.has(id))).toEqual([]);
});

test('batches: an object with numbered members is a list with gaps, any other object is refused', async () => {
  const { token } = testSources.web;
  const post = async (path: string, body: object): Promise<number> =>
    (await fetch(`${rig.gateway.url}${path}`, { method: 'POST', body: JSON.stringify(body) })).status;
  const track = (messageId: string) => ({ type: 'track', event: 'Numbered', anonymousId: 'a', messageId });
  const capture = (uuid: string) => ({ event: 'Numbered', distinct_id: 'a', uuid });
  const spec = { 0: track('numbered-0'), 2: track('numbered-2') };
  expect(await post('/v1/batch', { writeKey: token, batch: spec })).toBe(200);
  expect(await post('/batch/', { api_key: token, batch: { 7: capture('numbered-7') } })).toBe(200);
  for (const batch of [{}, { a: track('numbered-a') }, { 0: track('numbered-b'), length: 1 }, 'x', 1]) {
    expect([batch, await post('/v1/batch', { writeKey: token, batch })]).toEqual([batch, 400]);
    expect([batch, await post('/batch/', { api_key: token, batch })]).toEqual([batch, 400]);
  }
  const stored = (await rig.log.envelopes()).map(({ id }) => id).filter((id) => id.startsWith('numbered'));
  expect(stored.toSorted()).toEqual(['numbered-0', 'numbered-2', 'numbered-7']);
});

test.each([
  { name: 'an unknown key', path: '/pixel/unknown.gif?event=a', status: 401 },
  { name: 'no event', path: `/pixel/${testSources.web.token}.gif`, status: 400 },
  { name: 'no image', path: `/pixel/${testSources.web.token}?event=a`, status: 401 },
])('pixel: $name is $status', async ({ path, status }) => {
  expect((await fetch(`${rig.gateway.url}${path}`)).status).toBe(status);
});

test('redirect: a link redirects to the redirectUrl of its source and tracks an event named after the link', async () => {
  const answer = await fetch(
    `${rig.gateway.url}/redirect/link?email=a%40b.test&distinctId=redirect-1&to=https://evil.test`,
    {
      redirect: 'manual',
    },
  );
  expect(answer.status).toBe(302);
  expect(answer.headers.get('location')).toBe('https://example.com/landing?a=b');
  const found = (await rig.log.envelopes()).find((envelope) => envelope.id === 'redirect-1');
  expect(found?.body).toMatchObject({ event: 'link', email: 'a@b.test', eventProperties: { to: 'https://evil.test' } });
});

test.each(['nobody', 'server', 'bad-link', '%ff'])('redirect: %s is no link', async (code) => {
  expect((await fetch(`${rig.gateway.url}/redirect/${code}`, { redirect: 'manual' })).status).toBe(404);
});

test.each(waysIn.filter(([method]) => method === 'GET'))(
  'head: HEAD is answered as %s %s, without an event',
  async (_, path) => {
    const ask = async (method: string) => {
      const answer = await fetch(`${rig.gateway.url}${path}`, { method, redirect: 'manual' });
      const headers = ['content-type', 'content-length', 'location', 'cache-control'].map((name) =>
        answer.headers.get(name),
      );
      return { status: answer.status, headers, body: (await answer.text()).length > 0 };
    };
    const before = (await rig.log.envelopes()).length;
    const head = await ask('HEAD');
    expect(await rig.log.envelopes()).toHaveLength(before);
    const got = await ask('GET');
    expect(head).toEqual({ ...got, body: false });
  },
);

test('webhook: the body becomes the properties of an event named as the source', async () => {
  const address = `${rig.gateway.url}/webhook/${testSources.hook.token}?distinctId=`;
  const send = (id: string, body: string, type: string) =>
    fetch(`${address}${id}`, { method: 'POST', body, headers: { 'content-type': type } });
  expect((await send('hook-json', '{"order":{"id":7}}', 'application/json')).status).toBe(200);
  expect((await send('hook-form', 'order=7&tag=a&tag=b', 'application/x-www-form-urlencoded')).status).toBe(200);
  expect((await send('hook-deep', `{"a":${nestedMixed(63)}}`, 'application/json')).status).toBe(200);
  const tooDeep = await send('hook-deeper', `{"a":${nestedMixed(64)}}`, 'application/json');
  expect([tooDeep.status, await tooDeep.json()]).toEqual([
    400,
    { success: false, error: 'the body nests deeper than 64 levels' },
  ]);
  expect((await send('hook-array', '[1,{"a":2}]', 'application/json')).status).toBe(200);
  for (const type of ['application/cloudevents+json', 'application/vnd.x+json; charset=utf-8', 'text/json', '*/*']) {
    expect([type, (await send(`hook-${type}`, '{"b":1}', type)).status]).toEqual([type, 200]);
    expect([type, (await send(`hooks-${type}`, '[{"b":1}]', type)).status]).toEqual([type, 200]);
  }
  expect((await send('hook-xml', '<a/>', 'application/xml')).status).toBe(415);
  const bodies = new Map((await rig.log.envelopes()).map((envelope) => [envelope.id, envelope.body]));
  expect(bodies.get('hook-json')).toMatchObject({ event: 'Order hook', eventProperties: { order: { id: 7 } } });
  expect(bodies.get('hook-form')).toMatchObject({ eventProperties: { order: '7', tag: ['a', 'b'] } });
  expect(bodies.get('hook-array')).toMatchObject({ event: 'Order hook', eventProperties: { value: 1 } });
  expect(bodies.get('hook-array:1')).toMatchObject({ event: 'Order hook', eventProperties: { a: 2 } });
});

test('bodies: a byte order mark before the JSON is ignored on every route, with gzip and without', async () => {
  const server = testSources.server.token;
  const event = (id: string) => ({ event: 'Marked', distinctId: id });
  const message = (id: string) => ({ type: 'track', event: 'Marked', messageId: id, userId: 'marked' });
  const capture = (uuid: string) => ({ event: 'Marked', uuid, distinct_id: 'marked' });
  const bodies: Readonly<Record<string, (id: string) => unknown>> = {
    '/api/v1/track': (id) => ({ token: server, ...event(id) }),
    '/api/v1/batch': (id) => ({ token: server, events: [event(id)] }),
    '/v1/track': (id) => ({ writeKey: server, ...message(id) }),
    '/v1/batch': (id) => ({ writeKey: server, batch: [message(id)] }),
    '/batch/': (id) => ({ api_key: server, batch: [capture(id)] }),
    '/capture/': (id) => ({ api_key: server, ...capture(id) }),
    [`/webhook/${testSources.hook.token}`]: (id) => ({ id }),
  };
  const ids: string[] = [];
  for (const [path, make] of Object.entries(bodies)) {
    for (const packs of [false, true]) {
      if (packs && ['/api/v1/track', '/capture/'].includes(path)) continue;
      const id = `01890a5d-ac96-774b-bcce-${String(ids.length).padStart(12, '0')}`;
      const text = Buffer.from(`\ufeff${JSON.stringify(make(id))}`);
      const answer = await fetch(
        `${rig.gateway.url}${path}${path.startsWith('/webhook/') ? `?distinctId=${id}` : ''}`,
        {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...(packs ? { 'content-encoding': 'gzip' } : {}) },
          body: packs ? gzipSync(text) : text,
        },
      );
      expect([path, packs, answer.status, await answer.text()]).toEqual([path, packs, 200, expect.any(String)]);
      ids.push(id);
    }
  }
  const stored = (await rig.log.envelopes()).map(({ id }) => id);
  expect(ids.filter((id) => !stored.includes(id))).toEqual([]);
});

const segments = {
  'of 2,000 characters': 'x'.repeat(2_000),
  'with a NUL': 'a%00b',
  'that is not UTF-8': '%FF%FE',
  'with half a surrogate pair': '%ED%A0%80',
  'with an escape cut short': '%E0%A4%A',
  'with a slash': 'a%2Fb',
  'named as what every object has': '__proto__',
};

test.each(Object.entries(segments))('addresses: a key %s is a 4xx at every route', async (_case, segment) => {
  const asked: [path: string, body?: string][] = [
    [`/pixel/${segment}.gif?event=a`],
    [`/redirect/${segment}`],
    [`/webhook/${segment}`, '{}'],
    [`/api/v1/experiments/assignments/${segment}`, '{}'],
    [`/api/v1/${segment}`],
    [`/${segment}`, '{}'],
  ];
  for (const [path, body] of asked) {
    const answer = await fetch(`${rig.gateway.url}${path}`, body === undefined ? {} : { method: 'POST', body });
    expect({ path, clients: Math.floor(answer.status / 100), body: await answer.json() }).toMatchObject({
      path,
      clients: 4,
      body: { success: false },
    });
  }
});

test.each([
  [
    'in the query',
    `/pixel/${testSources.web.token}.gif?event=nulls&externalId=a%00b`,
    undefined,
    { externalId: 'a\ufffdb' },
  ],
  [
    'among the properties',
    `/pixel/${testSources.web.token}.gif?event=nulls&note=%00`,
    undefined,
    { eventProperties: { note: '\ufffd' } },
  ],
  ['in a form', `/webhook/${testSources.hook.token}?event=nulls`, 'note=%00', { eventProperties: { note: '\ufffd' } }],
])('addresses: a null character %s is replaced, and the event stored', async (_case, path, form, expected) => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const before = (await rig.log.envelopes()).length;
  const init = form === undefined ? {} : { method: 'POST', body: form, headers };
  expect((await fetch(`${rig.gateway.url}${path}`, init)).status).toBe(200);
  const stored = await rig.log.envelopes();
  expect(stored).toHaveLength(before + 1);
  expect(stored.filter(({ body }) => body['event'] === 'nulls').at(-1)?.body).toMatchObject(expected);
});

test('redirect: a link redirects to its page even if its query makes an invalid event, and that event is not stored', async () => {
  const before = (await rig.log.envelopes()).length;
  for (const query of ['time=yesterday', 'time=1', `userId=${'x'.repeat(401)}`]) {
    const address = `${rig.gateway.url}/redirect/${testSources.link.token}?${query}`;
    const answer = await fetch(address, { redirect: 'manual' });
    expect([query, answer.status, answer.headers.get('location')]).toEqual([
      query,
      302,
      'https://example.com/landing?a=b',
    ]);
  }
  expect(await rig.log.envelopes()).toHaveLength(before);
});

test('addresses: a query that makes the request head too long is a 431; bytes that are not UTF-8 are replaced', async () => {
  const address = `${rig.gateway.url}/pixel/${testSources.web.token}.gif?event=a`;
  expect((await fetch(`${address}&note=${'x'.repeat(20_000)}`)).status).toBe(431);
  expect((await fetch(`${address}&distinctId=not-utf8&note=%FF&u0000=%5Cu0000`)).status).toBe(200);
  const stored = (await rig.log.envelopes()).find(({ id }) => id === 'not-utf8');
  expect(stored?.body).toMatchObject({ eventProperties: { note: '\ufffd', u0000: '\\u0000' } });
});

test('openapi: the document describes every route, and pages of any origin may read it', async () => {
  const answer = await fetch(`${rig.gateway.url}/api/v1/openapi`, { headers: { origin: 'https://shop.test' } });
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
    '/api/v1/experiments/assignments/{experiment_key}',
    '/api/v1/experiments/personalization',
    '/sluice.js',
    '/sluice/settings/{key}',
    '/sluice-tags.js',
    '/sluice/container/{key}',
    '/api/v1/openapi',
  ]);
});
