import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NatsServer } from '../../shared/embedded/nats/nats-server.ts';
import { startTestNats } from '../../shared/testing/servers.ts';
import { startGatewayHere } from '../testing/gateway-here.ts';
import type { GatewayUnderTest } from '../testing/gateway-here.ts';
import { until } from '../../shared/testing/until.ts';
import { rawPost, sendRaw } from '../testing/raw-request.ts';
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
  gateway = await startGatewayHere(nats.url, {
    BODIES_BYTES_MAX: String(8 * 1024 ** 2),
    GATEWAY_CONNECTIONS_MAX: '1200',
    GATEWAY_ADDRESS_REQUESTS_MAX: '60',
    TRUSTED_PROXIES: '127.0.0.1',
    RATE_LIMIT_EVENTS_PER_S: '1000000',
  });
});

afterAll(async () => {
  await gateway.stop();
  await log.close();
  await nats.stop();
});

const { token } = testSources.server;
const json = 'Content-Type: application/json';
const event = (id: string): string => JSON.stringify({ token, event: 'Raw', distinctId: id });
const lengthOf = (body: string): string => `Content-Length: ${Buffer.byteLength(body)}`;
const post = (path: string, body: string, ...headers: string[]): string =>
  rawPost(path, [json, lengthOf(body), ...headers], body);
const track = '/api/v1/track';

const isStored = async (id: string): Promise<boolean> => (await log.envelopes()).some((envelope) => envelope.id === id);

test('framing: a well-formed request is accepted', async () => {
  expect((await sendRaw(gateway.port, [post(track, event('good'))])).statuses).toEqual([200]);
});

test.each([
  ['two lengths that differ', [lengthOf(event('cl')), 'Content-Length: 5']],
  ['two lengths alike', [lengthOf(event('cl')), lengthOf(event('cl'))]],
  ['a length and chunks', [lengthOf(event('cl')), 'Transfer-Encoding: chunked']],
  ['an unknown transfer coding', ['Transfer-Encoding: xchunked']],
  ['two transfer codings', ['Transfer-Encoding: gzip, chunked']],
  ['a repeated transfer coding', ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked']],
  ['a signed length', ['Content-Length: +5']],
  ['a negative length', ['Content-Length: -5']],
  ['a length that is not a number', ['Content-Length: ten']],
])('framing: %s is refused, the connection is closed, and the bytes after it are never read', async (_, headers) => {
  const request = rawPost(track, [json, ...headers], event('refused'));
  const alone = await sendRaw(gateway.port, [request], 'closed');
  expect(alone.statuses).toEqual([400]);
  expect(alone.closed).toBe(true);
  const followed = await sendRaw(gateway.port, [request + post(track, event('smuggled'))], 'closed');
  expect(followed.statuses).not.toContain(200);
  expect(followed.closed).toBe(true);
  expect(await isStored('refused')).toBe(false);
  expect(await isStored('smuggled')).toBe(false);
});

test('framing: HTTP/1.0 gets a 505', async () => {
  const answer = await sendRaw(gateway.port, [post(track, event('old')).replace('HTTP/1.1', 'HTTP/1.0')], 'closed');
  expect(answer.text).toMatch(/^HTTP\/1\.1 505 /);
  expect(answer.closed).toBe(true);
});

test('framing: a chunked body is read', async () => {
  const body = event('chunked');
  const half = Math.floor(body.length / 2);
  const chunk = (part: string): string => `${part.length.toString(16)}\r\n${part}\r\n`;
  const head = rawPost(track, [json, 'Transfer-Encoding: chunked'], '');
  const parts = [head, chunk(body.slice(0, half)), { waitMs: 30 }, chunk(body.slice(half)), '0\r\n\r\n'];
  expect((await sendRaw(gateway.port, parts)).statuses).toEqual([200]);
  expect(await isStored('chunked')).toBe(true);
});

test('framing: a body that trickles in byte by byte is read', async () => {
  const body = event('trickle');
  const head = rawPost(track, [json, lengthOf(body)], '');
  const parts = Array.from(body, (byte) => [byte, { waitMs: 2 }]).flat();
  expect((await sendRaw(gateway.port, [head, ...parts])).statuses).toEqual([200]);
  expect(await isStored('trickle')).toBe(true);
});

test('framing: chunks without end are refused and memory is released', async () => {
  const filler = `100000\r\n${'x'.repeat(0x100000)}\r\n`;
  const head = rawPost(track, [json, 'Transfer-Encoding: chunked'], '');
  const answer = await sendRaw(gateway.port, [head, ...Array.from({ length: 20 }, () => filler)]);
  // Chunks that arrive after the end cause a reset of the connection, which may overtake the answer.
  expect(answer.statuses.join() || (answer.closed && 'reset')).toMatch(/^(413|reset)$/);
  await expect.poll(() => metric('sluice_gateway_body_bytes')).toBe(0);
});

test('framing: a client that waits for 100 Continue with a body that is too large is refused before it sends the body', async () => {
  const headers = [json, 'Content-Length: 2097152', 'Expect: 100-continue'];
  const answer = await sendRaw(gateway.port, [rawPost(track, headers, '')], 'closed');
  expect(answer.statuses).toContain(413);
  expect(answer.closed).toBe(true);
});

test('framing: pipelined requests on a connection cause no error, and a later request is answered', async () => {
  const bodies = ['p-0', 'p-1', 'p-2'].map((id) => post(track, event(id)));
  const answer = await sendRaw(gateway.port, [bodies.join('')], { quietMs: 300 });
  expect(answer.statuses.every((status) => status === 200)).toBe(true);
  expect((await sendRaw(gateway.port, [post(track, event('after'))])).statuses).toEqual([200]);
});

test('framing: header floods are refused', async () => {
  const many = Array.from({ length: 300 }, (_, i) => `x-${i}: ${i}`);
  expect((await sendRaw(gateway.port, [post(track, event('many'), ...many)])).statuses).toEqual([431]);
  expect((await sendRaw(gateway.port, [post(track, event('long'), `x: ${'y'.repeat(20_000)}`)])).statuses).toEqual([
    431,
  ]);
});

test('clients: a client that disconnects in the middle of a body leaves nothing in memory', async () => {
  const head = rawPost('/api/v1/batch', [json, 'Content-Length: 1000000'], '{"token":"');
  await Promise.all(
    Array.from({ length: 50 }, () => sendRaw(gateway.port, [head, 'x'.repeat(20_000), { waitMs: 20 }], { quietMs: 0 })),
  );
  await expect.poll(() => metric('sluice_gateway_body_bytes')).toBe(0);
  await expect.poll(() => metric('sluice_gateway_requests_open')).toBe(0);
});

test('clients: a client that disconnects before its answer leaves no open request, and the next client is answered', async () => {
  const socket = connect(gateway.port, '127.0.0.1');
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => socket.write(post(track, event('left')), () => resolve()));
  socket.resetAndDestroy();
  // Whether the event is stored depends on how much the gateway reads before the reset.
  await until('the request has ended', async () => (await metric('sluice_gateway_requests_open')) === 0);
  expect((await sendRaw(gateway.port, [post(track, event('next'))])).statuses).toEqual([200]);
});

test("clients: unfinished bodies from one address can fill only that address's share of memory", async () => {
  const from = (address: string): string => `X-Forwarded-For: ${address}`;
  const headers = [json, 'Content-Length: 5000000', from('198.51.100.1')];
  const head = rawPost('/api/v1/batch', headers, '{"token":"');
  const sockets: Socket[] = [];
  for (let i = 0; i < 20; i += 1) {
    const socket = connect(gateway.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(head + 'x'.repeat(1_000_000));
    sockets.push(socket);
  }
  await until('the bodies have arrived', async () => (await metric('sluice_gateway_body_bytes')) >= 1_000_000);
  expect(await metric('sluice_gateway_body_bytes')).toBeLessThanOrEqual(4 * 1024 ** 2);
  // A body that arrives in pieces takes from the memory for bodies.
  const beside = post(track, event('beside'), from('198.51.100.2'));
  const pieces = [beside.slice(0, -20), { waitMs: 30 }, beside.slice(-20)];
  expect((await sendRaw(gateway.port, pieces)).statuses).toEqual([200]);
  for (const socket of sockets) socket.destroy();
  await until('the bodies are forgotten', async () => (await metric('sluice_gateway_body_bytes')) === 0);
});

test('clients: requests in flight from one address are limited, and other addresses have their own limit', async () => {
  const from = (address: string): string => `X-Forwarded-For: ${address}`;
  const head = rawPost(track, [json, 'Content-Length: 1000', from('198.51.100.3')], '{"token":"');
  const sockets = Array.from({ length: 60 }, () => {
    const socket = connect(gateway.port, '127.0.0.1').on('error', () => undefined);
    socket.write(head);
    return socket;
  });
  await until('the requests are under way', async () => (await metric('sluice_gateway_requests_open')) >= 60);
  const more = await sendRaw(gateway.port, [post(track, event('more'), from('198.51.100.3'))], 'closed');
  expect(more.text).toMatch(/429 Too Many Requests[^]*retry-after: 1[^]*from this address/i);
  expect(await metric('sluice_gateway_refused_requests_total{share="requests"}')).toBe(1);
  const others = await sendRaw(gateway.port, [post(track, event('others'), from('198.51.100.4'))]);
  expect(others.statuses).toEqual([200]);
  for (const socket of sockets) socket.destroy();
  await until('they are over', async () => (await metric('sluice_gateway_requests_open')) === 0);
  expect((await sendRaw(gateway.port, [post(track, event('later'), from('198.51.100.3'))])).statuses).toEqual([200]);
  expect(await isStored('more')).toBe(false);
});

test('clients: other clients are served despite a thousand idle connections, and connections over the limit are closed', async () => {
  const sockets = await Promise.all(
    Array.from(
      { length: 1_000 },
      () =>
        new Promise<Socket>((resolve) => {
          const socket = connect(gateway.port, '127.0.0.1', () => resolve(socket));
          socket.on('error', () => resolve(socket));
        }),
    ),
  );
  expect((await sendRaw(gateway.port, [post(track, event('served'))])).statuses).toEqual([200]);
  for (let n = 0; n < 300; n += 1) sockets.push(connect(gateway.port, '127.0.0.1').on('error', () => undefined));
  await until('those beyond the limit are closed', async () => (await metric(refusedConnections)) >= 100);
  for (const socket of sockets) socket.destroy();
  await until('connections are gone', async () => (await metric('sluice_gateway_connections')) < 100);
  expect((await sendRaw(gateway.port, [post(track, event('again'))])).statuses).toEqual([200]);
});

const refusedConnections = 'sluice_gateway_refused_connections_total';

async function metric(name: string): Promise<number> {
  const line = (await gateway.metrics()).split('\n').find((text) => text.startsWith(`${name} `));
  return Number(line?.split(' ')[1] ?? Number.NaN);
}
