import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NatsServer } from '../../embedded/nats/nats-server.ts';
import { createNatsFolder, startTestNats } from '../../testing/servers.ts';
import type { Unanswered } from './asker.ts';
import { client } from './client.ts';
import { connectLog } from './connection.ts';
import type { LogConnection } from './connection.ts';
import { answeredError, isLogUnavailable, unansweredError } from './server-error.ts';

let storeDir: string;
let server: NatsServer;
let connection: LogConnection;

beforeAll(async () => {
  storeDir = await createNatsFolder();
  server = await startTestNats({ storeDir });
  connection = await connectLog({ url: server.url, name: 'test' });
  connection[client].nc.subscribe('echo', { callback: (_error, message) => message.respond(message.data) });
  connection[client].nc.subscribe('silent', { callback: () => undefined });
});
afterAll(async () => {
  await connection.close();
  await server.stop();
});

const ask = (subject: string, text: string, timeoutMs = 5_000) =>
  connection[client].asker.ask(subject, Buffer.from(text), { timeoutMs });

test('asker: each question gets its own answer', async () => {
  const texts = Array.from({ length: 200 }, (_, n) => String(n));
  const answers = await Promise.all(texts.map((text) => ask('echo', text)));
  expect(answers.map((answer) => (typeof answer === 'string' ? answer : answer.string()))).toEqual(texts);
});

test('asker: without a subscriber, an answer without data comes at once', async () => {
  const answer = await ask('nobody', 'x', 60_000);
  if (typeof answer === 'string') throw new Error(answer);
  expect(answer.data).toHaveLength(0);
  expect(isLogUnavailable(answeredError(answer))).toBe(true);
});

test('asker: a question without an answer ends at the deadline, and a question that is too large is not sent', async () => {
  expect(await ask('silent', 'x', 20)).toBe('timeout');
  expect(await ask('echo', 'x'.repeat(9 * 1024 ** 2))).toBe('too_large');
});

test('asker: a refusal of the log becomes an error with its code', async () => {
  const answer = await ask('$JS.API.STREAM.INFO.NONE', '');
  if (typeof answer === 'string') throw new Error(answer);
  expect(answeredError(answer)).toMatchObject({ api_error: { err_code: 10_059 } });
});

test('asker: waiting requests fail when the connection is lost, and requests succeed when it is back', async () => {
  const waiting = ask('silent', 'x', 60_000);
  const { port } = server;
  const back = new Promise<void>((resolve) => {
    connection.onReconnect(resolve);
  });
  await server.kill();
  expect(await waiting).toBe('disconnected');
  server = await startTestNats({ storeDir, port });
  await back;
  const answer = await ask('echo', 'again');
  expect(typeof answer === 'string' ? answer : answer.string()).toBe('again');
});

test('asker: a missing answer is a failure of the log, except if the question is too large', () => {
  const reasons: readonly Unanswered[] = ['timeout', 'disconnected', 'too_large'];
  expect(reasons.filter((reason) => isLogUnavailable(unansweredError(reason)))).toEqual(['timeout', 'disconnected']);
});
