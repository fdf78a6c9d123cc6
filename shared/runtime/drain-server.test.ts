import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createDrainServer } from './drain-server.ts';

/** A server that answers when the test says so, and a client that keeps its connections. */
async function rig() {
  const waiting: ServerResponse[] = [];
  const server = createServer((_request, response) => void waiting.push(response));
  const drain = createDrainServer(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => {
    agent.destroy();
    server.closeAllConnections();
    server.close();
  });
  const ask = async (): Promise<string | undefined> => {
    const asked = request({ port, host: '127.0.0.1', agent }).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    await once(answer, 'end');
    return answer.headers.connection;
  };
  const arrived = (count: number) => expect.poll(() => waiting.length).toBe(count);
  return { server, drain, ask, waiting, arrived };
}

test('drain server: an open request is answered and ends its connection, and a new connection is refused', async () => {
  const { server, drain, ask, waiting, arrived } = await rig();
  const first = ask();
  await arrived(1);
  const drained = drain({ acceptMs: 0, idleMs: 60_000, deadlineMs: 60_000 });
  await expect.poll(() => server.listening).toBe(false);
  await expect(ask()).rejects.toThrow(/ECONNREFUSED/);
  waiting[0]?.end('answer');
  expect(await first).toBe('close');
  // The only connection is gone, so the drain does not wait for `idleMs`.
  await drained;
});

test('drain server: new connections are accepted for acceptMs', async () => {
  const { drain, ask, waiting, arrived } = await rig();
  const drained = drain({ acceptMs: 300, idleMs: 60_000, deadlineMs: 60_000 });
  const late = ask();
  await arrived(1);
  waiting[0]?.end('answer');
  expect(await late).toBe('close');
  await drained;
  await expect(ask()).rejects.toThrow(/ECONNREFUSED/);
});

test('drain server: waits for an idle connection until idleMs, and for an open request until the deadline', async () => {
  const { drain, ask, waiting, arrived } = await rig();
  const idle = ask();
  await arrived(1);
  waiting[0]?.end('answer');
  expect(await idle).toBe('keep-alive');
  const startedMs = performance.now();
  await drain({ acceptMs: 0, idleMs: 200, deadlineMs: 60_000 });
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(190);

  const other = await rig();
  const open = other.ask().catch(String);
  await other.arrived(1);
  await other.drain({ acceptMs: 0, idleMs: 0, deadlineMs: 200 });
  expect(other.waiting[0]?.writableEnded).toBe(false);
  other.waiting[0]?.destroy();
  expect(await open).toMatch(/socket hang up|ECONNRESET/);
});
