import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { createEgressRules } from './egress-rules.ts';
import { createGuardedLookup } from './guarded-lookup.ts';
import { createSenders } from './sender.ts';
import type { Sender, Senders } from './sender.ts';

const limitMs = 30_000;
const patiently = { timeout: 20_000 };
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

type Server = {
  readonly url: string;
  /** Connections accepted so far, and those that are open. */
  readonly counts: { connections: number; open: number };
  /** Requests that wait for an answer, in order of arrival. */
  readonly waiting: { readonly path: string; answer(headers?: Readonly<Record<string, string>>): void }[];
  readonly sockets: Set<Socket>;
};

/** Answers on command; paths under `/at-once` immediately. */
async function startServer(): Promise<Server> {
  const counts = { connections: 0, open: 0 };
  const waiting: Server['waiting'] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? '';
    const answer = (headers = {}): void => void response.writeHead(200, headers).end(path);
    request.resume().on('end', () => {
      if (path.startsWith('/at-once')) answer();
      else waiting.push({ path, answer });
    });
  });
  server.on('connection', (socket: Socket) => {
    counts.connections += 1;
    counts.open += 1;
    sockets.add(socket);
    socket.on('close', () => {
      counts.open -= 1;
      sockets.delete(socket);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  closing.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, counts, waiting, sockets };
}

function sendersWith(connectionsMax: number): Senders {
  const rules = createEgressRules(['127.0.0.0/8']);
  const limits = { connectionsMax, connectTimeoutMs: limitMs, headersTimeoutMs: limitMs, totalTimeoutMs: limitMs };
  const senders = createSenders({ rules, lookupFor: createGuardedLookup(rules), limits });
  return {
    create(group) {
      const sender = senders.create(group);
      closing.push(() => sender.close());
      return sender;
    },
  };
}

const send = async (sender: Sender, url: string): Promise<string> => {
  const result = await sender.send({ method: 'POST', url, headers: {}, body: '{}' });
  return result.kind === 'answered' ? result.answer.body : result.reason;
};
const many = (sender: Sender, url: string, count: number): Promise<string>[] =>
  Array.from({ length: count }, () => send(sender, url));
const paths = ({ waiting }: Server): string[] => waiting.map(({ path }) => path);

/** Answers waiting requests until all of `sent` have settled. */
async function answerAll(server: Server, sent: readonly Promise<string>[], headers = {}): Promise<void> {
  let ended = 0;
  for (const each of sent) void each.then(() => (ended += 1));
  await vi.waitFor(() => {
    for (const next of server.waiting.splice(0)) next.answer(headers);
    expect(ended).toBe(sent.length);
  }, patiently);
}

test('connections: a connection is reused by every sender of its group and by no other sender', async () => {
  const server = await startServer();
  const senders = sendersWith(4);
  const [one, another, stranger] = [senders.create('a'), senders.create('a'), senders.create('b')];
  await send(one, `${server.url}/at-once`);
  await send(another, `${server.url}/at-once`);
  expect(server.counts.connections).toBe(1);
  await send(stranger, `${server.url}/at-once`);
  expect(server.counts.connections).toBe(2);
});

test('connections: past the limit requests wait, but a sender without a connection gets one', async () => {
  const server = await startServer();
  const senders = sendersWith(2);
  const [one, another] = [senders.create('a'), senders.create('a')];
  const ofOne = many(one, `${server.url}/one`, 4);
  await vi.waitFor(() => expect(paths(server)).toEqual(['/one', '/one']), patiently);
  const ofAnother = many(another, `${server.url}/another`, 2);
  await vi.waitFor(() => expect(paths(server)).toEqual(['/one', '/one', '/another']), patiently);
  await answerAll(server, [...ofOne, ...ofAnother]);
  expect(await Promise.all(ofOne)).toEqual(['/one', '/one', '/one', '/one']);
  expect(await Promise.all(ofAnother)).toEqual(['/another', '/another']);
  expect(server.counts.connections).toBe(3);
});

test('connections: a free connection goes to a sender below its fair share', async () => {
  const server = await startServer();
  const senders = sendersWith(4);
  const [greedy, modest] = [senders.create('a'), senders.create('a')];
  const all = many(greedy, `${server.url}/greedy`, 8);
  await vi.waitFor(() => expect(paths(server)).toEqual(['/greedy', '/greedy', '/greedy', '/greedy']), patiently);
  all.push(...many(modest, `${server.url}/modest`, 3));
  await vi.waitFor(() => expect(paths(server)).toHaveLength(5), patiently);
  server.waiting.shift()?.answer();
  await vi.waitFor(() => expect(paths(server).filter((path) => path === '/modest')).toHaveLength(2), patiently);
  await answerAll(server, all);
  expect(server.counts.connections).toBe(5);
});

test('connections: if the server closes a connection after each answer, all requests are still answered', async () => {
  const server = await startServer();
  const sender = sendersWith(1).create('a');
  const all = many(sender, `${server.url}/one`, 3);
  await answerAll(server, all, { connection: 'close' });
  expect(await Promise.all(all)).toEqual(['/one', '/one', '/one']);
  expect(server.counts.connections).toBe(3);
});

test('connections: a connection that the server closed while idle is not used', async () => {
  const server = await startServer();
  const sender = sendersWith(4).create('a');
  await send(sender, `${server.url}/at-once`);
  for (const socket of server.sockets) socket.end();
  await vi.waitFor(() => expect(server.counts.open).toBe(0), patiently);
  expect(await send(sender, `${server.url}/at-once/again`)).toBe('/at-once/again');
});

test('connections: closing a sender ends its own requests, including waiting ones, and no other sender’s', async () => {
  const server = await startServer();
  const senders = sendersWith(2);
  const [one, another] = [senders.create('a'), senders.create('a')];
  const ofOne = many(one, `${server.url}/one`, 3);
  const ofAnother = send(another, `${server.url}/another`);
  await vi.waitFor(() => expect(paths(server).toSorted()).toEqual(['/another', '/one', '/one']), patiently);
  await one.close();
  expect(await Promise.all(ofOne)).toEqual(Array.from({ length: 3 }, () => 'network SENDER_CLOSED'));
  server.waiting.find(({ path }) => path === '/another')?.answer();
  expect(await ofAnother).toBe('/another');
  expect(await send(one, `${server.url}/at-once`)).toBe('network SENDER_CLOSED');
  await another.close();
  await vi.waitFor(() => expect(server.counts.open).toBe(0), patiently);
});

test('connections: a request that times out closes its connection, and waiting requests continue', async () => {
  const server = await startServer();
  const sender = sendersWith(1).create('a');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const late = send(sender, `${server.url}/late`);
    const next = send(sender, `${server.url}/at-once`);
    while (server.waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(limitMs + 10);
    expect(await late).toMatch(/TIMEOUT$/);
    expect(await next).toBe('/at-once');
  } finally {
    vi.useRealTimers();
  }
});

test('connections: a sender does not wait for a connection that was being opened for a sender that has closed', async () => {
  const server = await startServer();
  const senders = sendersWith(1);
  const [one, another] = [senders.create('a'), senders.create('a')];
  const ofOne = send(one, `${server.url}/one`);
  // The connection of this sender is still being opened.
  await one.close();
  expect(await send(another, `${server.url}/at-once`)).toBe('/at-once');
  expect(await ofOne).toBe('network SENDER_CLOSED');
});

test('connections: a request withdrawn while it waits for a connection is never sent, and the requests after it are', async () => {
  const server = await startServer();
  const sender = sendersWith(1).create('a');
  const first = send(sender, `${server.url}/first`);
  await vi.waitFor(() => expect(paths(server)).toEqual(['/first']), patiently);
  let isLive = true;
  const request = { method: 'POST', url: `${server.url}/withdrawn`, headers: {}, body: '{}' } as const;
  const withdrawn = sender.send(request, () => isLive);
  const last = send(sender, `${server.url}/last`);
  isLive = false;
  server.waiting.shift()?.answer();
  expect(await withdrawn).toEqual({ kind: 'failed', failure: 'withdrawn', reason: 'WITHDRAWN', permanent: false });
  await answerAll(server, [last]);
  expect(await Promise.all([first, last])).toEqual(['/first', '/last']);
  expect(server.counts.connections).toBe(1);
});

test('connections: a request withdrawn while its connection is being opened is not sent over it', async () => {
  const server = await startServer();
  const sender = sendersWith(1).create('a');
  let isLive = true;
  const request = { method: 'POST', url: `${server.url}/withdrawn`, headers: {}, body: '{}' } as const;
  const withdrawn = sender.send(request, () => isLive);
  isLive = false;
  expect(await withdrawn).toMatchObject({ failure: 'withdrawn' });
  expect(await send(sender, `${server.url}/at-once`)).toBe('/at-once');
  expect(server.waiting).toEqual([]);
  expect(server.counts.connections).toBe(1);
});
