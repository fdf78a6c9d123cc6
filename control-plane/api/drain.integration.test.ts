import { once } from 'node:events';
import { Agent, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;
let client: Client;

beforeAll(async () => {
  plane = await startTestControlPlane();
  client = await plane.newAccount();
});
afterAll(() => plane.stop());

type Answered = { readonly status: number; readonly connection: string | undefined; readonly localPort: number };

const headers = () => ({ authorization: `Bearer ${client.key}`, 'content-type': 'application/json' });

/** A client that keeps its connections open. */
function keptClient(baseUrl: string): (method: string, path: string, body?: string) => Promise<Answered> {
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  return (method, path, body) =>
    new Promise((resolve, reject) => {
      const asked = request(`${baseUrl}${path}`, { method, agent, headers: headers() }, (answer) => {
        const { localPort = 0 } = answer.socket;
        const { statusCode: status = 0, headers: got } = answer;
        answer.resume();
        answer.once('end', () => resolve({ status, connection: got.connection, localPort }));
      });
      asked.once('error', reject);
      asked.end(body);
    });
}

test('drain: each kept connection is answered once more, with the notice that the connection closes', async () => {
  const other = await plane.startAnother({ SHUTDOWN_IDLE_MS: 20_000 });
  const [configures, assigns] = [keptClient(other.baseUrl), keptClient(other.baseUrl)];
  const askBoth = () =>
    Promise.all([configures('GET', '/rest/v1/sources'), assigns('POST', '/experiments/personalization', '{}')]);
  const before = await askBoth();
  expect(before).toMatchObject([
    { status: 200, connection: 'keep-alive' },
    { status: 400, connection: 'keep-alive' },
  ]);
  const stopped = other.stop();
  await expect.poll(() => keptClient(other.baseUrl)('GET', '/rest/v1/openapi').catch(String)).toMatch(/ECONNREFUSED/);
  expect(await askBoth()).toMatchObject([
    { status: 200, connection: 'close', localPort: before[0].localPort },
    { status: 400, connection: 'close', localPort: before[1].localPort },
  ]);
  // Resolves early, because no connection is left.
  await stopped;
});

test('drain: the status server answers readiness until the last connection is closed', async () => {
  const other = await plane.startAnother({ SHUTDOWN_IDLE_MS: 20_000 });
  let isAnswering = true;
  // As main.ts opens it.
  other.scope.use('status server', undefined, () => void (isAnswering = false));
  const ask = keptClient(other.baseUrl);
  expect(await ask('GET', '/rest/v1/sources')).toMatchObject({ status: 200, connection: 'keep-alive' });
  const stopped = other.stop();
  await expect.poll(() => keptClient(other.baseUrl)('GET', '/rest/v1/openapi').catch(String)).toMatch(/ECONNREFUSED/);
  expect(isAnswering).toBe(true);
  expect(await ask('GET', '/rest/v1/sources')).toMatchObject({ status: 200, connection: 'close' });
  await stopped;
  expect(isAnswering).toBe(false);
});

test('drain: a request whose body is still arriving is read and answered', async () => {
  const other = await plane.startAnother({ SHUTDOWN_IDLE_MS: 0 });
  const body = JSON.stringify({ type: 'NodejsApi', name: 'late' });
  const asked = request(`${other.baseUrl}/rest/v1/sources`, {
    method: 'POST',
    headers: { ...headers(), 'content-length': body.length, expect: '100-continue' },
    agent: new Agent({ keepAlive: true }),
  });
  const answered = once(asked, 'response') as Promise<[IncomingMessage]>;
  asked.flushHeaders();
  await once(asked, 'continue');
  const stopped = other.stop();
  await expect.poll(() => keptClient(other.baseUrl)('GET', '/rest/v1/openapi').catch(String)).toMatch(/ECONNREFUSED/);
  asked.end(body);
  const [answer] = await answered;
  expect(answer).toMatchObject({ statusCode: 200, headers: { connection: 'close' } });
  answer.resume();
  await stopped;
});

test('drain: a connection on which nothing was ever sent does not delay the shutdown', async () => {
  const other = await plane.startAnother({ SHUTDOWN_IDLE_MS: 0 });
  const silent = connect(Number(new URL(other.baseUrl).port), '127.0.0.1');
  onTestFinished(() => void silent.destroy());
  const cut = once(silent, 'close');
  await once(silent, 'connect');
  // A connection opened later is answered, so the server has already accepted the silent connection.
  expect(await keptClient(other.baseUrl)('GET', '/rest/v1/sources')).toMatchObject({ status: 200 });
  await other.stop();
  await cut;
});
