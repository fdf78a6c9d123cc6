import { createServer as createHttpServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer, isIPv6 } from 'node:net';
import type { AddressInfo, Server as TcpServer, Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { createEgressRules } from './egress-rules.ts';
import { createGuardedLookup } from './guarded-lookup.ts';
import type { ResolveName } from './resolve-name.ts';
import { createSender } from './sender.ts';
import { listenSlowly } from './testing/slow-listener.ts';
import { createTestAuthority } from '../testing/certificates.ts';
import type { Sender } from './sender.ts';

const limits = { connectionsMax: 4, connectTimeoutMs: 30_000, headersTimeoutMs: 30_000, totalTimeoutMs: 30_000 };
const short = { connectionsMax: 4, connectTimeoutMs: 500, headersTimeoutMs: 300, totalTimeoutMs: 400 };
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

function senderFor(allowed: readonly string[], resolveName?: ResolveName, own = limits): Sender {
  const rules = createEgressRules(allowed);
  const sender = createSender({ rules, lookupFor: createGuardedLookup(rules, resolveName), limits: own });
  closing.push(() => sender.close());
  return sender;
}

async function listen(server: Server | TcpServer): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  closing.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

const http = (listener: RequestListener): Promise<number> => listen(createHttpServer(listener));
const raw = (onSocket: (socket: Socket) => void): Promise<number> => listen(createTcpServer(onSocket));
const request = (url: string) => ({ method: 'POST', url, headers: { 'x-a': '1' }, body: '{}' }) as const;
const local = ['127.0.0.0/8', '::1/128'];

test('sender: answer: has status, headers and body', async () => {
  const port = await http((incoming, response) => {
    incoming
      .resume()
      .on('end', () => response.writeHead(201, { 'x-b': '2' }).end(`${incoming.method} ${incoming.url}`));
  });
  const result = await senderFor(local).send(request(`http://127.0.0.1:${port}/a?b=c`));
  expect(result).toMatchObject({
    kind: 'answered',
    answer: { status: 201, headers: { 'x-b': '2' }, body: 'POST /a?b=c' },
  });
});

test('sender: redirect: is returned as the answer, and is not followed', async () => {
  let asked = 0;
  const port = await http((_incoming, response) => {
    asked += 1;
    response.writeHead(302, { location: '/elsewhere' }).end();
  });
  const result = await senderFor(local).send(request(`http://127.0.0.1:${port}/`));
  expect(result).toMatchObject({ kind: 'answered', answer: { status: 302 } });
  expect(asked).toBe(1);
});

test.each([
  ['no answer', (socket: Socket) => socket.resume(), 'TIMEOUT', short, 'timeout'],
  ['dripping body', (socket: Socket) => drip(socket), 'TOTAL_TIMEOUT', short, 'timeout'],
  ['early close', (socket: Socket) => socket.destroy(), 'ANSWER_CUT_SHORT', limits, 'connection'],
  ['no HTTP', (socket: Socket) => void socket.end('hello\r\n\r\n'), 'ANSWER_MALFORMED', limits, 'connection'],
])('sender: %s: ends in time, and the failure is not permanent', async (_name, behave, code, own, failure) => {
  const port = await raw((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => behave(socket));
  });
  const result = await senderFor(local, undefined, own).send(request(`http://127.0.0.1:${port}/`));
  expect(result).toMatchObject({ kind: 'failed', failure, permanent: false });
  expect(result.kind === 'failed' ? result.reason : '').toMatch(new RegExp(`${code}|ECONNRESET`));
});

test('sender: endless answer: is cut, and its status counts', async () => {
  const port = await http((_incoming, response) => {
    response.writeHead(200);
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(64 * 1024, 'x')));
    };
    response.on('drain', more);
    more();
  });
  const result = await senderFor(local).send(request(`http://127.0.0.1:${port}/`));
  expect(result.kind === 'answered' ? result.answer.body.length : 0).toBe(1024 * 1024);
});

test('sender: refused connection: the failure is not permanent', async () => {
  const result = await senderFor(local).send(request('http://127.0.0.1:1/'));
  expect(result).toMatchObject({
    kind: 'failed',
    failure: 'connection',
    reason: 'network ECONNREFUSED',
    permanent: false,
  });
});

test.each([
  'http://127.0.0.1/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://127.1/',
  'http://0/',
  'http://[::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::127.0.0.1]/',
  'http://[64:ff9b::127.0.0.1]/',
  'http://[2002:7f00:1::]/',
  'http://0177.0.0.1/',
  'http://[fe80::1]/',
  'http://[fd00:ec2::254]/latest/meta-data',
  'http://①②⑦.0.0.1/',
  'http://169.254.169.254/latest/meta-data',
  'http://localhost:8080/',
  'http://10.1.2.3:9000/',
])('sender: %s: the address is blocked', async (url) => {
  const result = await senderFor([]).send(request(url));
  expect(result).toEqual({
    kind: 'failed',
    failure: 'blocked',
    reason: 'address or port not allowed (EGRESS_ALLOW)',
    permanent: true,
  });
});

test('sender: name server that changes its answer: the address is checked on every connection', async () => {
  const answers = ['127.0.0.1', '169.254.169.254'];
  const port = await http((_incoming, response) => void response.end('ok'));
  const ask = async (): Promise<string> => {
    const resolveName: ResolveName = async () => [{ address: answers.shift() ?? '', family: 4 }];
    const result = await senderFor(['127.0.0.0/8'], resolveName).send(request(`http://rebind.example:${port}/`));
    return result.kind === 'answered' ? 'answered' : result.reason;
  };
  expect(await ask()).toBe('answered');
  expect(await ask()).toBe('address or port not allowed (EGRESS_ALLOW)');
});

test('sender: name with several addresses: one that answers is used, and only allowed addresses are tried', async () => {
  const port = await http((_incoming, response) => void response.end('ok'));
  const resolveName: ResolveName = async () => [
    { address: '::1', family: 6 },
    { address: '127.0.0.2', family: 4 },
    { address: '169.254.169.254', family: 4 },
    { address: '127.0.0.1', family: 4 },
  ];
  const mixed = request(`http://mixed.example:${port}/`);
  expect(await senderFor(local, resolveName).send(mixed)).toMatchObject({ kind: 'answered' });
  const only = await senderFor(['127.0.0.2/32'], resolveName).send(mixed);
  expect(only).toMatchObject({ kind: 'failed', reason: 'network ECONNREFUSED' });
  expect(await senderFor([], resolveName).send(mixed)).toMatchObject({
    reason: 'address or port not allowed (EGRESS_ALLOW)',
  });
});

test.each([
  ['an address that refuses', '127.0.0.2'],
  ['an address of the other family that refuses', '::1'],
  ['a dead address', '192.0.2.1'],
])('sender: name with a slow address and %s: the slow address is reached', async (_name, other) => {
  const { port, accept } = await listenSlowly();
  const resolveName: ResolveName = async () =>
    ['127.0.0.1', other].map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  const result = senderFor([...local, '192.0.2.0/24'], resolveName).send(request(`http://far.example:${port}/`));
  setTimeout(accept, 400);
  expect(await result).toMatchObject({ kind: 'answered', answer: { status: 204 } });
});

test('sender: TLS: the name of a host with several addresses is sent (SNI), and the connect timeout includes the handshake', async () => {
  const authority = await createTestAuthority();
  const asked: string[] = [];
  const SNICallback: TlsOptions['SNICallback'] = (name, callback) => {
    asked.push(name);
    callback(null);
  };
  const server = createHttpsServer({ ...(await authority.server()), SNICallback }, () => undefined);
  server.on('tlsClientError', () => undefined);
  const port = await listen(server);
  const resolveName: ResolveName = async () => ['127.0.0.2', '127.0.0.1'].map((address) => ({ address, family: 4 }));
  const untrusted = await senderFor(local, resolveName).send(request(`https://shop.example:${port}/`));
  expect(untrusted).toMatchObject({ kind: 'failed', failure: 'connection', permanent: false });
  expect(asked).toEqual(['shop.example']);
  const silent = await raw((socket) => void socket.on('error', () => undefined).resume());
  const timed = { ...limits, connectTimeoutMs: 200 };
  const late = await senderFor(local, resolveName, timed).send(request(`https://shop.example:${silent}/`));
  expect(late).toMatchObject({ kind: 'failed', failure: 'timeout', reason: 'network UND_ERR_CONNECT_TIMEOUT' });
});

test('sender: untrusted certificate: nothing is sent', async () => {
  let asked = 0;
  const authority = await createTestAuthority();
  const port = await listen(createHttpsServer(await authority.server(), () => void (asked += 1)));
  const result = await senderFor(local).send(request(`https://localhost:${port}/`));
  expect(result).toMatchObject({ kind: 'failed', failure: 'connection', permanent: false });
  expect(asked).toBe(0);
});

test.each(['/users/..', '/users/%2E%2e/x', '/users/.?a=/b', '/users\\..\\x'])(
  'sender: the path %s, in which a value chose another path, is refused for good',
  async (path) => {
    const reason = 'invalid request: the URL is not an http or https URL, or has . or .. in its path';
    const result = await senderFor(local).send(request(`http://127.0.0.1:1${path}`));
    expect(result).toEqual({ kind: 'failed', failure: 'invalid', reason, permanent: true });
  },
);

test('sender: dots within a path segment and in the query are sent unchanged', async () => {
  const paths: (string | undefined)[] = [];
  const port = await http((incoming, response) => {
    paths.push(incoming.url);
    response.end('ok');
  });
  for (const path of ['/a..b/.c/...', '/x?next=/../y']) {
    expect(await senderFor(local).send(request(`http://127.0.0.1:${port}${path}`))).toMatchObject({ kind: 'answered' });
  }
  expect(paths).toEqual(['/a..b/.c/...', '/x?next=/../y']);
});

test('sender: line break in a header: the request is refused for good', async () => {
  const bad = { ...request('http://127.0.0.1:1/'), headers: { 'x-a': 'a\r\nx-b: c' } };
  expect(await senderFor(local).send(bad)).toEqual({
    kind: 'failed',
    failure: 'invalid',
    reason: 'invalid request: the header x-a has an invalid value',
    permanent: true,
  });
});

function drip(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n');
  const timer = setInterval(() => socket.write('x'), 50);
  socket.on('close', () => clearInterval(timer));
}
