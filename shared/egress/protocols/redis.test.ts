import { setImmediate } from 'node:timers/promises';
import { onTestFinished, expect, test, vi } from 'vitest';
import { createEgressRules } from '../egress-rules.ts';
import type { Sender, SendResult } from '../sender.ts';
import { startRespServer } from '../testing/resp-server.ts';
import type { RespScript, RespServer } from '../testing/resp-server.ts';
import { createProtocolSenders } from './protocol-sender.ts';
import { redisProtocol } from './redis.ts';

const limits = { connectTimeoutMs: 30_000, totalTimeoutMs: 30_000 };

type Login = { readonly login?: string; readonly path?: string };

function redisSender(): Sender {
  const options = { protocols: [redisProtocol], rules: createEgressRules(['127.0.0.0/8']), limits };
  const http = { send: () => Promise.reject(new Error('this is no HTTP')), close: async () => undefined };
  const sender = createProtocolSenders(options)(http);
  onTestFinished(() => sender.close());
  return sender;
}

function requestTo({ port }: RespServer, commands: readonly string[][], { login, path = '' }: Login = {}) {
  return {
    method: 'POST',
    url: `redis://127.0.0.1:${port}${path}`,
    headers: login === undefined ? {} : { authorization: `Basic ${Buffer.from(login).toString('base64')}` },
    body: JSON.stringify(commands),
  } as const;
}

async function send(script: RespScript, commands: readonly string[][], login?: Login) {
  const server = await startRespServer(script);
  return { server, result: await redisSender().send(requestTo(server, commands, login)) };
}

const answer = (status: number, body: unknown): SendResult => ({
  kind: 'answered',
  answer: { status, headers: {}, body: JSON.stringify(body) },
});

test('redis: commands are sent in one pipeline, and each is answered', async () => {
  const script: RespScript = ([name, , text]) =>
    name !== 'XADD' ? '+OK\r\n' : text === 'bad' ? '-OOM command not allowed, "secret"\r\n' : '$3\r\n1-0\r\n';
  const commands = [
    ['XADD', 's', 'größe 😀'],
    ['XADD', 's', 'bad'],
    ['XADD', 's', ''],
  ];
  const { server, result } = await send(script, commands, { login: 'user:pass:word', path: '/3' });
  expect(server.commands).toEqual([['AUTH', 'user', 'pass:word'], ['SELECT', '3'], ...commands]);
  expect(result).toEqual(answer(200, [{ value: '1-0' }, { error: 'OOM' }, { value: '1-0' }]));
});

test.each([
  ['AUTH', '-WRONGPASS invalid username-password pair', 401, 'WRONGPASS'],
  ['AUTH', '-ERR AUTH <password> called without any password configured', 401, 'ERR'],
  ['PING', '-NOAUTH Authentication required.', 401, 'NOAUTH'],
  ['PING', '-ERR max number of clients reached', 429, 'ERR'],
  ['PING', '-LOADING Redis is loading the dataset in memory', 503, 'LOADING'],
])('redis: %s answered with %s: nothing else is sent, status %i', async (command, reply, status, error) => {
  const script: RespScript = ([name]) => (name === command ? `${reply}\r\n` : '+OK\r\n');
  const { server, result } = await send(script, [['XADD', 's', '*']], { login: ':password' });
  expect(result).toEqual(answer(status, { error }));
  expect(server.commands[0]).toEqual(['AUTH', 'password']);
  expect(server.commands.map(([name]) => name)).not.toContain('XADD');
});

test.each([
  ['without a command', '+PONG\r\n$-1\r\n'],
  ['of another protocol version', '>1\r\n$-1\r\n'],
  ['of a size beyond all bounds', '$9999999999\r\n'],
  ['that never ends', `+${'x'.repeat(100_000)}`],
  ['whose size is wrong', '$1\r\nPONG\r\n'],
])('redis: a reply %s fails its request at once, and closes the connection', async (_name, reply) => {
  const { server, result } = await send(() => reply, [['XADD', 's', '*']]);
  expect(result).toMatchObject({ kind: 'failed', failure: 'connection', permanent: false });
  await vi.waitFor(() => expect(server.open).toBe(0));
});

test("redis: a reply between two requests closes the connection, and is not the next command's reply", async () => {
  const server = await startRespServer(([name]) => (name === 'XADD' ? '$3\r\n1-0\r\n' : '+PONG\r\n'));
  const sender = redisSender();
  const entry = requestTo(server, [['XADD', 's', '*']]);
  expect(await sender.send(entry)).toEqual(answer(200, [{ value: '1-0' }]));
  server.write('$3\r\n2-0\r\n');
  await vi.waitFor(() => expect(server.open).toBe(0));
  expect(await sender.send(entry)).toEqual(answer(200, [{ value: '1-0' }]));
  expect(server.accepted).toBe(2);
});

test('redis: replies that arrive in pieces are read', async () => {
  const pieces = ['$', '3\r', '\n1-', '0\r', '\n-OO', 'M no\r\n'];
  const server = await startRespServer(([name, stream]) => {
    if (stream === 'b') void inPieces();
    return name === 'PING' ? '+PONG\r\n' : undefined;
  });
  const inPieces = async (): Promise<void> => {
    for (const piece of pieces) {
      server.write(piece);
      await setImmediate();
    }
  };
  const both = ['a', 'b'].map((stream) => ['XADD', stream, '*']);
  expect(await redisSender().send(requestTo(server, both))).toEqual(answer(200, [{ value: '1-0' }, { error: 'OOM' }]));
});
