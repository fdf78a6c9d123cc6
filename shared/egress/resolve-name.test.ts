import { createSocket } from 'node:dgram';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { createEgressRules } from './egress-rules.ts';
import { createGuardedLookup } from './guarded-lookup.ts';
import { createNameResolver } from './resolve-name.ts';
import { createSender } from './sender.ts';

const questionAt = 12;
const typeA = 1;

/** A name server that has 127.0.0.1 for `up.…`, nothing for `gone.…`, and keeps silent about all others. */
async function startNameServer() {
  const asked = new Set<string>();
  const socket = createSocket('udp4');
  socket.on('message', (query, { port }) => {
    const { name, end } = readName(query);
    asked.add(name);
    const isUp = name.startsWith('up.');
    if (!isUp && !name.startsWith('gone.')) return;
    const hasAddress = isUp && query.readUInt16BE(end) === typeA;
    const head = Buffer.from(query.subarray(0, end + 4));
    head.writeUInt16BE(isUp ? 0x81_80 : 0x81_83, 2);
    head.writeUInt16BE(hasAddress ? 1 : 0, 6);
    head.writeUInt32BE(0, 8);
    const address = Buffer.from([0xc0, questionAt, 0, typeA, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]);
    socket.send(hasAddress ? Buffer.concat([head, address]) : head, port, '127.0.0.1');
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  return { asked, server: `127.0.0.1:${socket.address().port}` };
}

function readName(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = questionAt;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.'), end: at + 1 };
}

/** A destination that answers `/up` and no other path. */
async function startSink() {
  const waiting: string[] = [];
  const server = createServer((request, response) => {
    if (request.url === '/up') response.end('{}');
    else waiting.push(request.url ?? '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { waiting, port: (server.address() as AddressInfo).port };
}

const limits = { connectionsMax: 64, connectTimeoutMs: 20_000, headersTimeoutMs: 20_000, totalTimeoutMs: 20_000 };
const get = (url: string) => ({ method: 'GET', url, headers: {}, body: undefined }) as const;

test('resolve name: dozens of names and requests that hang do not delay other destinations', async () => {
  const { asked, server } = await startNameServer();
  const { waiting, port } = await startSink();
  const rules = createEgressRules(['127.0.0.0/8']);
  const lookupFor = createGuardedLookup(rules, createNameResolver({ servers: [server], tryMs: 5_000 }));
  const [deaf, slow, quick] = [1, 2, 3].map(() => createSender({ rules, lookupFor, limits }));
  onTestFinished(async () => {
    await Promise.all([deaf?.close(), slow?.close(), quick?.close()]);
  });
  let ended = 0;
  const note = (): void => void (ended += 1);
  for (let n = 0; n < 64; n += 1) {
    void deaf?.send(get(`http://deaf-${String(n)}.example.com:${String(port)}/`)).then(note);
    void slow?.send(get(`http://127.0.0.1:${String(port)}/slow`)).then(note);
  }
  await expect.poll(() => [...asked].filter((name) => name.startsWith('deaf-')).length).toBe(64);
  await expect.poll(() => waiting.length).toBe(64);
  const result = await quick?.send(get(`http://up.example.com:${String(port)}/up`));
  expect(result).toMatchObject({ kind: 'answered', answer: { status: 200 } });
  expect(ended).toBe(0);
});

test('resolve name: the platform resolves names that no name server knows, and names without a dot', async () => {
  const { asked, server } = await startNameServer();
  const resolve = createNameResolver({ servers: [server], asksPlatform: true });
  await expect(resolve('gone.invalid')).rejects.toMatchObject({ syscall: 'getaddrinfo' });
  expect((await resolve('localhost')).map(({ address }) => address)).toContain('127.0.0.1');
  expect([...asked]).toEqual(['gone.invalid']);
});

test('resolve name: without private destinations, the platform is asked only for names without a dot', async () => {
  const { server } = await startNameServer();
  const asked: string[] = [];
  const platform = (hostname: string) => {
    asked.push(hostname);
    return Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
  };
  const resolve = createNameResolver({ servers: [server], platform });
  await expect(resolve('gone.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  expect(await resolve('sink')).toHaveLength(1);
  expect(asked).toEqual(['sink']);
});

test('resolve name: a platform that does not answer is asked for one name with a dot at a time, and each waits for a limited time', async () => {
  const { server } = await startNameServer();
  const asked: string[] = [];
  const found = [{ address: '127.0.0.1', family: 4 }];
  let release = (): void => undefined;
  const silent = new Promise<typeof found>((resolve) => {
    release = () => resolve(found);
  });
  const platform = (hostname: string) => {
    asked.push(hostname);
    return hostname.startsWith('gone.deaf-') ? silent : Promise.resolve(found);
  };
  const resolve = createNameResolver({ servers: [server], asksPlatform: true, tryMs: 200, platform });
  const results = await Promise.allSettled(['gone.deaf-1.test', 'gone.deaf-2.test', 'sink'].map(resolve));
  const late = { status: 'rejected', reason: { code: 'ETIMEOUT' } };
  expect(results).toMatchObject([late, late, { status: 'fulfilled' }]);
  expect(asked.filter((name) => name.startsWith('gone.'))).toHaveLength(1);
  release();
  expect(await resolve('gone.quick.test')).toEqual(found);
  expect(asked).toHaveLength(3);
});
