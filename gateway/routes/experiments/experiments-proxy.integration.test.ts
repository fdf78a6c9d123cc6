import { createServer } from 'node:http';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { findFreePort } from '../../../shared/embedded/machine/free-port.ts';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import { startTestNats } from '../../../shared/testing/servers.ts';
import { openTestLog } from '../../testing/test-log.ts';
import type { TestLog } from '../../testing/test-log.ts';
import { allTestSources, testSources } from '../../testing/test-sources.ts';
import { startGatewayHere } from '../../testing/gateway-here.ts';
import type { GatewayUnderTest } from '../../testing/gateway-here.ts';
import { rawPost, sendRaw } from '../../testing/raw-request.ts';
import { until } from '../../../shared/testing/until.ts';
import { connectControlPlane } from './control-plane.ts';

type Asked = { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string };
type Answer = { readonly status: number; readonly body: string; readonly headers?: Record<string, string> };

let nats: NatsServer;
let log: TestLog;
let upstream: Server;
let upstreamUrl: string;
let gateway: GatewayUnderTest;
let asked: Asked[] = [];
let answer: (request: Asked) => Promise<Answer> | Answer;

beforeAll(async () => {
  nats = await startTestNats();
  log = await openTestLog(nats.url);
  await log.publishSources(allTestSources);
  upstream = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() };
      asked.push(one);
      void Promise.resolve(answer(one)).then(({ status, body, headers }) =>
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body),
      );
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const { port } = upstream.address() as AddressInfo;
  upstreamUrl = `http://127.0.0.1:${port}/inner/`;
  gateway = await startGatewayHere(nats.url, {
    CONTROL_PLANE_URL: upstreamUrl,
    TRUSTED_PROXIES: '127.0.0.1',
    REQUEST_DEADLINE_MS: '5000',
  });
});
afterAll(async () => {
  await gateway.stop();
  upstream.closeAllConnections();
  await new Promise((resolve) => upstream.close(resolve));
  await log.close();
  await nats.stop();
});
beforeEach(() => {
  asked = [];
  answer = () => ({ status: 200, body: '{"success":true,"in_experiment":false}' });
});

const body = '{"token":"exp_any","visitor_id":"v"}';
const assignment = 'experiments/assignments/button';

async function post(path: string, headers: Record<string, string> = {}, at = gateway) {
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
  const got = await fetch(`${at.url}/api/v1/${path}`, init);
  return { status: got.status, headers: got.headers, body: await got.json() };
}

test('experiments: the body reaches the control plane unchanged, with the address, user agent and origin of the caller', async () => {
  const got = await post(`experiments/assignments/${encodeURIComponent('a key/ü')}`, {
    'x-forwarded-for': '198.51.100.7',
    'user-agent': 'Browser/1',
    origin: 'https://shop.test',
    cookie: 'private=1',
  });
  expect([got.status, got.body]).toEqual([200, { success: true, in_experiment: false }]);
  expect(got.headers.get('access-control-allow-origin')).toBe('https://shop.test');
  expect(asked).toMatchObject([
    {
      path: `/inner/experiments/assignments/${encodeURIComponent('a key/ü')}`,
      body,
      headers: { 'x-forwarded-for': '198.51.100.7', 'user-agent': 'Browser/1', origin: 'https://shop.test' },
    },
  ]);
  expect(asked[0]?.headers).not.toHaveProperty('cookie');
  expect(asked[0]?.headers).not.toHaveProperty('sec-gpc');
  await post(assignment, { 'sec-gpc': '1' });
  expect(asked.pop()?.headers).toMatchObject({ 'sec-gpc': '1' });
  await post('experiments/personalization/');
  expect(asked[1]?.path).toBe('/inner/experiments/personalization');
});

test.each([
  [400, undefined],
  [401, undefined],
  [403, undefined],
  [503, '7'],
])('experiments: a %i of the control plane is passed on', async (status, retryAfter) => {
  const headers: Record<string, string> = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
  answer = () => ({ status, body: '{"success":false}', headers });
  const got = await post(assignment);
  expect([got.status, got.body]).toEqual([status, { success: false }]);
  expect(got.headers.get('retry-after')).toBe(retryAfter ?? null);
});

const webKey = testSources.web.token;
const askFlags = async (path: string, more: object = {}): Promise<unknown> => {
  const asked = { api_key: webKey, distinct_id: 'u-28', ...more };
  const got = await fetch(`${gateway.url}${path}`, { method: 'POST', body: JSON.stringify(asked) });
  expect(got.status).toBe(200);
  return got.json();
};

test("flags: PostHog's libraries get the account's experiments, in the form of each version", async () => {
  answer = () => ({ status: 200, body: '{"success":true,"flags":{"button":"Green","banner":false}}' });
  const values = {
    featureFlags: { button: 'Green', banner: false },
    featureFlagPayloads: {},
    errorsWhileComputingFlags: false,
  };
  const metadata = { id: expect.any(Number) as unknown, version: expect.any(Number) as unknown };
  const flags = {
    button: expect.objectContaining({ key: 'button', enabled: true, variant: 'Green', metadata }),
    banner: expect.objectContaining({ key: 'banner', enabled: false, metadata }),
  };
  expect(await askFlags('/decide/?v=1')).toMatchObject({ featureFlags: ['button'] });
  expect(await askFlags('/decide/?v=2')).toMatchObject({ featureFlags: { button: 'Green' } });
  expect(await askFlags('/decide/?v=3')).toMatchObject(values);
  expect(await askFlags('/flags/?v=1')).toEqual(values);
  for (const path of ['/decide/?v=4', '/flags/?v=2', '/flags?v=4'])
    expect(await askFlags(path)).toMatchObject({ ...values, flags });
  expect(asked.map(({ path, body: sent }) => [path, JSON.parse(sent) as unknown])).toEqual(
    Array.from({ length: 7 }, () => ['/inner/experiments/flags', { token: webKey, visitor_id: 'u-28' }]),
  );
  await askFlags('/flags/?v=2', { flag_keys_to_evaluate: ['button'], distinct_id: 42 });
  expect(JSON.parse(asked.at(-1)?.body ?? '')).toEqual({ token: webKey, visitor_id: '42', keys: ['button'] });
});

test('flags: libraries keep their last values when the control plane fails, and without an id there are no flags', async () => {
  for (const [status, text] of [
    [503, '{"success":false}'],
    [429, '{"success":false}'],
    [200, '{"success":true}'],
    [200, '{"success":true,"flags":{"button":5}}'],
    [502, '<html>'],
  ] as const) {
    answer = () => ({ status, body: text });
    expect(await askFlags('/flags/?v=2')).toEqual({
      featureFlags: {},
      featureFlagPayloads: {},
      flags: {},
      errorsWhileComputingFlags: true,
    });
  }
  asked = [];
  for (const distinctId of [undefined, '', 'x'.repeat(401), '$posthog_cookieless'])
    expect(await askFlags('/flags/?v=2', { distinct_id: distinctId })).toMatchObject({
      flags: {},
      errorsWhileComputingFlags: false,
    });
  expect(asked).toEqual([]);
});

test('experiments: a 502 with HTML from upstream is answered as a 503 with Retry-After', async () => {
  answer = () => ({ status: 502, body: '<html>', headers: { 'content-type': 'text/html' } });
  const got = await post(assignment);
  expect([got.status, got.headers.get('retry-after')]).toEqual([503, '1']);
});

test('experiments: a request beyond the limit of concurrent requests is refused, and the others are answered', async () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  answer = async () => {
    await held;
    return { status: 200, body: '{}' };
  };
  const controlPlane = connectControlPlane({ url: upstreamUrl, requestsMax: 4, deadlineMs: 60_000 });
  const ask = () => controlPlane.post('/experiments', {}, Buffer.from('{}'));
  const waiting = Array.from({ length: 4 }, ask);
  await until('four requests are on their way', () => Promise.resolve(asked.length === 4));
  expect(await ask()).toEqual({ kind: 'failed', reason: 'busy' });
  release();
  expect((await Promise.all(waiting)).map(({ kind }) => kind)).toEqual(Array(4).fill('answered'));
  await controlPlane.close();
});

test('experiments: requests that reach their deadline, with or without a connection, are 503, and later ones are served', async () => {
  let isHeld = true;
  answer = () => (isHeld ? new Promise(() => undefined) : { status: 200, body: '{"success":true}' });
  const impatient = await startGatewayHere(nats.url, {
    CONTROL_PLANE_URL: upstreamUrl,
    REQUEST_DEADLINE_MS: '500',
  });
  try {
    // More requests than the gateway has connections to the control plane.
    const late = await Promise.all(Array.from({ length: 80 }, () => post(assignment, {}, impatient)));
    expect(new Set(late.map(({ status }) => status))).toEqual(new Set([503]));
    isHeld = false;
    await expect.poll(async () => (await post(assignment, {}, impatient)).status, { timeout: 30_000 }).toBe(200);
  } finally {
    await impatient.stop();
  }
});

test('experiments: an answer of many pieces arrives whole', async () => {
  const text = JSON.stringify({ success: true, properties: { text: 'ü'.repeat(300_000) } });
  answer = () => ({ status: 200, body: text });
  expect((await post('experiments/personalization')).body).toEqual(JSON.parse(text));
});

test('experiments: a wrong content type and a malformed address are refused without being forwarded, and a preflight is answered', async () => {
  expect((await post(assignment, { 'content-type': 'application/xml' })).status).toBe(415);
  expect((await post('experiments/assignments/%E0%A4%A')).status).toBe(400);
  expect(asked).toEqual([]);
  const preflight = await fetch(`${gateway.url}/api/v1/${assignment}`, { method: 'OPTIONS' });
  expect(preflight.status).toBe(204);
  expect(await gateway.metrics()).toMatch(/requests_total\{route="assignments",code="415"\} 1/);
});

test('experiments: no User-Agent header causes a 5xx, and one in UTF-8 is forwarded unchanged', async () => {
  for (const name of ['Brówser € x', 'a\u0001b', 'a\u007fb', 'x \u{1f600} x']) {
    const headers = ['Content-Type: application/json', `Content-Length: ${body.length}`, `User-Agent: ${name}`];
    const got = await sendRaw(gateway.port, [rawPost(`/api/v1/${assignment}`, headers, body)]);
    expect({ name, answered: got.statuses.every((status) => status < 500) }).toEqual({ name, answered: true });
  }
  const agents = asked.map(({ headers }) => Buffer.from(headers['user-agent'] ?? '', 'latin1').toString());
  expect(agents).toContain('Brówser € x');
});

test('experiments: an unreachable control plane is a 503, and without CONTROL_PLANE_URL the answer is a 404 that names it', async () => {
  const away = await startGatewayHere(nats.url, { CONTROL_PLANE_URL: `http://127.0.0.1:${await findFreePort()}` });
  const none = await startGatewayHere(nats.url);
  const refused = await post(assignment, {}, away);
  const missing = await post(assignment, {}, none);
  await Promise.all([away.stop(), none.stop()]);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  expect(missing).toMatchObject({
    status: 404,
    body: { success: false, error: expect.stringContaining('CONTROL_PLANE_URL') },
  });
});
