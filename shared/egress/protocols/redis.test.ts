import { onTestFinished, expect, test } from 'vitest';
import { createEgressRules } from '../egress-rules.ts';
import type { SendResult } from '../sender.ts';
import { startRespServer } from '../testing/resp-server.ts';
import type { RespScript, RespServer } from '../testing/resp-server.ts';
import { createProtocolSenders } from './protocol-sender.ts';
import { redisProtocol } from './redis.ts';

const limits = { connectTimeoutMs: 30_000, totalTimeoutMs: 30_000 };

type Sent = { readonly server: RespServer; readonly result: SendResult };

async function send(script: RespScript, commands: readonly string[][], { login = '', path = '' } = {}): Promise<Sent> {
  const server = await startRespServer(script);
  const options = { protocols: [redisProtocol], rules: createEgressRules(['127.0.0.0/8']), limits };
  const http = { send: () => Promise.reject(new Error('this is no HTTP')), close: async () => undefined };
  const sender = createProtocolSenders(options)(http);
  onTestFinished(() => sender.close());
  const authorization = `Basic ${Buffer.from(login).toString('base64')}`;
  const result = await sender.send({
    method: 'POST',
    url: `redis://127.0.0.1:${server.port}${path}`,
    headers: login === '' ? {} : { authorization },
    body: JSON.stringify(commands),
  });
  return { server, result };
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
