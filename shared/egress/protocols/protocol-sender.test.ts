import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { onTestFinished, expect, test, vi } from 'vitest';
import { createTestAuthority } from '../../testing/certificates.ts';
import { createEgressRules } from '../egress-rules.ts';
import type { OutboundRequest } from '../outbound.ts';
import type { ResolveName } from '../resolve-name.ts';
import type { Sender } from '../sender.ts';
import { startRespServer } from '../testing/resp-server.ts';
import { createProtocolSenders } from './protocol-sender.ts';
import { redisProtocol } from './redis.ts';

const local = ['127.0.0.0/8'];
const limits = { connectTimeoutMs: 30_000, totalTimeoutMs: 30_000 };

type Options = {
  readonly allowed?: readonly string[];
  readonly limits?: typeof limits;
  readonly resolveName?: ResolveName;
  readonly trusted?: SecureContext;
};

function senderFor({ allowed = local, ...others }: Options = {}): Sender {
  const http: Sender = {
    send: async () => ({ kind: 'answered', answer: { status: 204, headers: {}, body: 'by HTTP' } }),
    close: async () => undefined,
  };
  const options = { protocols: [redisProtocol], rules: createEgressRules(allowed), limits, ...others };
  const sender = createProtocolSenders(options)(http);
  onTestFinished(() => sender.close());
  return sender;
}

const request = (url: string, commands = [['ECHO', 'a']], headers = {}): OutboundRequest => ({
  method: 'POST',
  url,
  headers,
  body: JSON.stringify(commands),
});
const login = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
const ok = (): string => '+OK\r\n';
const answered = { kind: 'answered', answer: { status: 200 } };

test('protocols: HTTP requests go to the HTTP sender', async () => {
  const result = await senderFor().send(request('https://example.com/'));
  expect(result).toMatchObject({ answer: { body: 'by HTTP' } });
});

test('protocols: an address that is not allowed is refused for good, literal or resolved, and no connection is opened', async () => {
  const server = await startRespServer(ok);
  const blocked = {
    kind: 'failed',
    failure: 'blocked',
    reason: 'address or port not allowed (EGRESS_ALLOW)',
    permanent: true,
  };
  const resolveName: ResolveName = async () => [{ address: '127.0.0.1', family: 4 }];
  const sender = senderFor({ allowed: [], resolveName });
  for (const host of ['127.0.0.1', '[::ffff:127.0.0.1]', '0x7f.1', 'inside.example']) {
    expect(await sender.send(request(`redis://${host}:${server.port}`))).toEqual(blocked);
  }
  expect(server.accepted).toBe(0);
});

test('protocols: sessions are reused, and no more are open than the protocol allows', async () => {
  const server = await startRespServer(ok);
  const sender = senderFor();
  const url = `redis://127.0.0.1:${server.port}`;
  const many = await Promise.all(Array.from({ length: 20 }, () => sender.send(request(url))));
  for (const result of many) expect(result).toMatchObject(answered);
  expect(server.accepted).toBe(redisProtocol.sessionsMax);
  for (let again = 0; again < 3; again += 1) expect(await sender.send(request(url))).toMatchObject(answered);
  expect(server.accepted).toBe(redisProtocol.sessionsMax);
});

test('protocols: sessions of an earlier login are closed', async () => {
  const server = await startRespServer(ok);
  const sender = senderFor();
  const url = `redis://127.0.0.1:${server.port}`;
  await sender.send(request(url, undefined, login('a:1')));
  await sender.send(request(url, undefined, login('a:2')));
  expect(server.accepted).toBe(2);
  await vi.waitFor(() => expect(server.open).toBe(1));
});

test.each(['AUTH', 'ECHO'])(
  'protocols: a server that is silent after %s causes a timeout, and the connection is closed',
  async (silent) => {
    const server = await startRespServer(([name]) => (name === silent ? undefined : '+OK\r\n'));
    const sender = senderFor({ limits: { ...limits, totalTimeoutMs: 200 } });
    const result = await sender.send(request(`redis://127.0.0.1:${server.port}`, undefined, login('a:1')));
    expect(result).toEqual({ kind: 'failed', failure: 'timeout', reason: 'network TOTAL_TIMEOUT', permanent: false });
    await vi.waitFor(() => expect(server.open).toBe(0));
  },
);

test('protocols: if a name is resolved only after the timeout, the connection is closed at once', async () => {
  const server = await startRespServer(() => undefined);
  let resolve: (addresses: Awaited<ReturnType<ResolveName>>) => void = () => undefined;
  const resolveName: ResolveName = () => new Promise((settle) => (resolve = settle));
  const sender = senderFor({ resolveName, limits: { ...limits, totalTimeoutMs: 200 } });
  const result = await sender.send(request(`redis://slow.example:${server.port}`));
  expect(result).toMatchObject({ kind: 'failed', failure: 'timeout' });
  resolve([{ address: '127.0.0.1', family: 4 }]);
  await vi.waitFor(() => expect([server.accepted, server.open]).toEqual([1, 0]));
});

test('protocols: a connection that breaks fails its request, and the next request gets a new connection', async () => {
  let isBroken = true;
  const server = await startRespServer(([name]) => (name === 'ECHO' && isBroken ? 'end' : '+OK\r\n'));
  const sender = senderFor();
  const url = `redis://127.0.0.1:${server.port}`;
  expect(await sender.send(request(url))).toMatchObject({ kind: 'failed', failure: 'connection', permanent: false });
  isBroken = false;
  expect(await sender.send(request(url))).toMatchObject(answered);
  expect(server.accepted).toBe(2);
});

test('protocols: closing ends requests in flight and their connections, and no request is sent afterwards', async () => {
  const server = await startRespServer(([name]) => (name === 'ECHO' ? undefined : '+OK\r\n'));
  const sender = senderFor();
  const url = `redis://127.0.0.1:${server.port}`;
  const sent = Array.from({ length: 6 }, () => sender.send(request(url)));
  await vi.waitFor(() => expect(server.commands.filter(([name]) => name === 'ECHO')).toHaveLength(4));
  await sender.close();
  for (const result of await Promise.all([...sent, sender.send(request(url))])) {
    expect(result).toMatchObject({ kind: 'failed', reason: 'network SENDER_CLOSED', permanent: false });
  }
  await vi.waitFor(() => expect(server.open).toBe(0));
  expect(server.accepted).toBe(4);
});

test('protocols: a request that is withdrawn while its session opens is not sent', async () => {
  const server = await startRespServer(ok);
  const sender = senderFor();
  const url = `redis://127.0.0.1:${server.port}`;
  let isAsked = 0;
  const result = await sender.send(request(url), () => (isAsked += 1) < 2);
  expect(result).toMatchObject({ kind: 'failed', failure: 'withdrawn' });
  expect(server.commands.map(([name]) => name)).toEqual(['PING']);
  expect(await sender.send(request(url))).toMatchObject(answered);
  expect(server.accepted).toBe(1);
});

test('protocols: TLS: nothing is sent to a server that does not prove its name', async () => {
  const authority = await createTestAuthority();
  const server = await startRespServer(ok, await authority.server());
  const resolveName: ResolveName = async () => [{ address: '127.0.0.1', family: 4 }];
  const trusted = createSecureContext({ ca: authority.ca });
  const failed = { kind: 'failed', failure: 'connection', permanent: false };
  const send = (sender: Sender, host: string) => sender.send(request(`rediss://${host}:${server.port}`));
  expect(await send(senderFor({ resolveName }), 'localhost')).toMatchObject(failed);
  expect(await send(senderFor({ resolveName, trusted }), 'other.example')).toMatchObject(failed);
  expect(server.commands).toEqual([]);
  expect(await send(senderFor({ resolveName, trusted }), 'localhost')).toMatchObject(answered);
});
