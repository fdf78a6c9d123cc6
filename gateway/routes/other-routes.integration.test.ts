import { afterAll, beforeAll, expect, test } from 'vitest';
import { track, nestedMixed } from '../testing/contract-row.ts';
import { startRouteRig } from '../testing/route-rig.ts';
import type { RouteRig } from '../testing/route-rig.ts';
import { testSources } from '../testing/test-sources.ts';

let rig: RouteRig;
beforeAll(async () => {
  rig = await startRouteRig();
});
afterAll(() => rig.stop());

test('cors: a preflight is answered for every origin', async () => {
  const headers = {
    origin: 'https://shop.test',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type',
  };
  const answer = await fetch(`${rig.gateway.url}/api/v1/track`, { method: 'OPTIONS', headers });
  expect(answer.status).toBe(204);
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  expect(answer.headers.get('access-control-allow-methods')).toContain('POST');
  expect(answer.headers.get('access-control-allow-headers')).toContain('content-type');
});

test('cors: a page may read the answer of a WebSource only', async () => {
  const origin = { origin: 'https://shop.test' };
  const web = await rig.post('track', track({ token: testSources.web.token }), origin);
  const server = await rig.post('track', track({}), origin);
  expect(web.headers.get('access-control-allow-origin')).toBe('*');
  expect(server.headers.get('access-control-allow-origin')).toBeNull();
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
  { name: 'an unknown key', path: '/pixel/nobody.gif?event=a', status: 401 },
  { name: 'no event', path: `/pixel/${testSources.web.token}.gif`, status: 400 },
  { name: 'no image', path: `/pixel/${testSources.web.token}?event=a`, status: 401 },
])('pixel: $name is $status', async ({ path, status }) => {
  expect((await fetch(`${rig.gateway.url}${path}`)).status).toBe(status);
});

test('redirect: leads to the redirectUrl of the source and tracks an event of its name', async () => {
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
  expect((await send('hook-array', '[1]', 'application/json')).status).toBe(400);
  expect((await send('hook-xml', '<a/>', 'application/xml')).status).toBe(415);
  const bodies = new Map((await rig.log.envelopes()).map((envelope) => [envelope.id, envelope.body]));
  expect(bodies.get('hook-json')).toMatchObject({ event: 'Order hook', eventProperties: { order: { id: 7 } } });
  expect(bodies.get('hook-form')).toMatchObject({ eventProperties: { order: '7', tag: ['a', 'b'] } });
  expect(bodies.has('hook-array')).toBe(false);
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
  ['a null character in the query', `/pixel/${testSources.web.token}.gif?event=a&externalId=a%00b`, undefined],
  ['a null character among the properties', `/pixel/${testSources.web.token}.gif?event=a&note=%00`, undefined],
  ['a null character in a form', `/webhook/${testSources.hook.token}`, 'note=%00'],
])('addresses: %s is a 400', async (_case, path, form) => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await fetch(
    `${rig.gateway.url}${path}`,
    form === undefined ? {} : { method: 'POST', body: form, headers },
  );
  expect(answer.status).toBe(400);
  expect(await answer.json()).toEqual({ success: false, error: 'the event holds a null character' });
});

test('addresses: a query longer than a head may be is a 431, bytes that are not UTF-8 are replaced', async () => {
  const address = `${rig.gateway.url}/pixel/${testSources.web.token}.gif?event=a`;
  expect((await fetch(`${address}&note=${'x'.repeat(20_000)}`)).status).toBe(431);
  expect((await fetch(`${address}&distinctId=not-utf8&note=%FF&u0000=%5Cu0000`)).status).toBe(200);
  const stored = (await rig.log.envelopes()).find(({ id }) => id === 'not-utf8');
  expect(stored?.body).toMatchObject({ eventProperties: { note: '\ufffd', u0000: '\\u0000' } });
});

test('openapi: describes every route, for everyone', async () => {
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
    '/api/v1/openapi',
  ]);
});
