import { Pool, buildConnector } from 'undici';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { NatsServer } from '../../shared/embedded/nats/nats-server.ts';
import { findFreePort } from '../../shared/embedded/machine/free-port.ts';
import { startTestNats } from '../../shared/testing/servers.ts';
import { startGatewayHere } from '../testing/gateway-here.ts';
import type { GatewayUnderTest } from '../testing/gateway-here.ts';
import { startGatewayProcess } from '../testing/gateway-process.ts';
import type { GatewayProcess } from '../testing/gateway-process.ts';
import { ConnectionEndedError, keepConnection } from '../testing/kept-connection.ts';
import type { KeptConnection } from '../testing/kept-connection.ts';
import { until } from '../../shared/testing/until.ts';
import { rawPost } from '../testing/raw-request.ts';
import { openTestLog } from '../testing/test-log.ts';
import type { TestLog } from '../testing/test-log.ts';
import { allTestSources, testSources } from '../testing/test-sources.ts';

let nats: NatsServer;
let log: TestLog;

beforeAll(async () => {
  nats = await startTestNats();
  log = await openTestLog(nats.url);
  await log.publishSources(allTestSources);
});

afterAll(async () => {
  await log.close();
  await nats.stop();
});

const { token } = testSources.server;
const body = (id: string): string => JSON.stringify({ token, event: 'Kept', distinctId: id });
const track = (id: string): string =>
  rawPost('/api/v1/track', ['Content-Type: application/json', `Content-Length: ${body(id).length}`], body(id));
const preflight = 'OPTIONS /api/v1/track HTTP/1.1\r\nHost: gateway\r\nOrigin: https://shop.test\r\n\r\n';

let ids = 0;
const newId = (): string => `kept-${(ids += 1)}`;
const storedIds = async (): Promise<Set<string>> => new Set((await log.envelopes()).map(({ id }) => id));

/** A gateway with this many kept connections, each of which got one answer. */
async function draining(
  variables: Readonly<Record<string, string>>,
  connections: number,
): Promise<{ gateway: GatewayUnderTest; kept: KeptConnection[]; stop(): Promise<void> }> {
  const gateway = await startGatewayHere(nats.url, { SHUTDOWN_DEADLINE_MS: '30000', ...variables });
  const kept = await Promise.all(Array.from({ length: connections }, () => keepConnection(gateway.port)));
  onTestFinished(async () => {
    for (const each of kept) each.destroy();
    await gateway.stop();
  });
  for (const each of kept) expect(await each.ask(track(newId()))).toMatchObject({ status: 200, closes: false });
  return {
    gateway,
    kept,
    async stop() {
      const stopped = gateway.stop();
      await until('readiness says no', async () => (await gateway.readiness()).status !== 200);
      return stopped;
    },
  };
}

test('drain: a kept-alive connection gets one more answer, with connection: close, and is then closed', async () => {
  const { kept, gateway } = await draining({ SHUTDOWN_IDLE_MS: '20000' }, 3);
  const stopped = gateway.stop();
  await until('readiness says no', async () => (await gateway.readiness()).status === 503);
  const [asks, preflights, wrong] = kept;
  const id = newId();
  expect(await asks?.ask(track(id))).toMatchObject({ status: 200, closes: true });
  expect(await asks?.ended).toBe('ended');
  expect(await preflights?.ask(preflight)).toMatchObject({ status: 200, closes: true });
  expect(await preflights?.ended).toBe('ended');
  expect(await wrong?.ask(rawPost('/nothing', ['Content-Length: 0'], ''))).toMatchObject({ status: 404, closes: true });
  expect(await wrong?.ended).toBe('ended');
  // No client is left, so the gateway does not wait for the rest of the time.
  await stopped;
  expect(await storedIds()).toContain(id);
});

test('drain: idle connections are closed after SHUTDOWN_IDLE_MS, not before, and without a reset', async () => {
  const idleMs = 1_500;
  const { kept, gateway } = await draining({ SHUTDOWN_IDLE_MS: String(idleMs) }, 2);
  const startedMs = performance.now();
  await gateway.stop();
  // No upper bound, because the machine may be slow.
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(idleMs - 50);
  for (const each of kept) expect(await each.ended).toBe('ended');
});

test('drain: during SHUTDOWN_ACCEPT_MS readiness is 503 and new connections are still served', async () => {
  const { gateway } = await draining({ SHUTDOWN_ACCEPT_MS: '10000', SHUTDOWN_IDLE_MS: '10000' }, 0);
  const stopped = gateway.stop();
  await until('readiness says no', async () => (await gateway.readiness()).status === 503);
  const late = await keepConnection(gateway.port);
  expect(await late.ask(track(newId()))).toMatchObject({ status: 200, closes: true });
  expect(await late.ended).toBe('ended');
  await stopped;
  await expect(keepConnection(gateway.port)).rejects.toThrow(/ECONNREFUSED/);
});

test('drain: without SHUTDOWN_ACCEPT_MS new connections are refused, while a kept-alive connection still gets an answer', async () => {
  const { gateway, kept } = await draining({ SHUTDOWN_IDLE_MS: '20000' }, 1);
  const stopped = gateway.stop();
  await until('connections are refused', async () => {
    const refused = await keepConnection(gateway.port).then(
      (taken) => (taken.destroy(), false),
      () => true,
    );
    return refused;
  });
  expect(await kept[0]?.ask(track(newId()))).toMatchObject({ status: 200, closes: true });
  await stopped;
});

test('drain: a body that is on its way is read and answered', async () => {
  const { gateway, kept } = await draining({ SHUTDOWN_IDLE_MS: '0' }, 1);
  const id = newId();
  const whole = track(id);
  kept[0]?.send(whole.slice(0, -20));
  await until('the request has begun', async () => /^sluice_gateway_requests_open 1$/m.test(await gateway.metrics()));
  const stopped = gateway.stop();
  await until('readiness says no', async () => (await gateway.readiness()).status === 503);
  expect(await kept[0]?.ask(whole.slice(-20))).toMatchObject({ status: 200, closes: true });
  expect(await kept[0]?.ended).toBe('ended');
  await stopped;
  expect(await storedIds()).toContain(id);
});

test('drain: pipelined requests end when their connection is closed, and the connection is not reset', async () => {
  const { gateway, kept } = await draining({ SHUTDOWN_IDLE_MS: '20000' }, 2);
  const stopped = gateway.stop();
  await until('readiness says no', async () => (await gateway.readiness()).status === 503);
  // These requests are answered while they are read, so all that arrived together are answered.
  const empty = rawPost('/api/v1/nothing', ['Content-Length: 0'], '');
  kept[0]?.send(empty + empty + empty);
  expect(await kept[0]?.ended).toBe('ended');
  const answers = (kept[0]?.received ?? '').split('HTTP/1.1 404').slice(1);
  expect(answers.length).toBeGreaterThan(0);
  for (const answer of answers) expect(answer).toMatch(/^connection: close\r$/im);
  // While a request waits for the log, the engine reads no further one and may end the connection at any time.
  kept[1]?.send([newId(), newId(), newId()].map(track).join(''));
  expect(await kept[1]?.ended).toBe('ended');
  await stopped;
});

type Traffic = {
  answered: number;
  reconnects: number;
  readonly problems: string[];
  /** Events of requests on connections that no gateway had accepted. */
  readonly unaccepted: string[];
  stop(): Promise<void>;
};

/** Clients that send one request after the other on a kept connection, and reconnect once the connection has ended. */
function rawClients(port: number, count: number): Traffic {
  const traffic = { answered: 0, reconnects: 0, problems: [] as string[], unaccepted: [] as string[] };
  const state = { over: false };
  const client = async (): Promise<void> => {
    let kept: KeptConnection | undefined;
    while (!state.over) {
      const id = newId();
      try {
        kept ??= await keepConnection(port);
        const answer = await kept.ask(track(id));
        if (answer.status !== 200) traffic.problems.push(answer.text);
        traffic.answered += 1;
        if (!answer.closes) continue;
        if ((await kept.ended) === 'reset') traffic.problems.push('reset after an answer');
      } catch (error) {
        // Either side may end a kept connection between two requests.
        const isBetweenRequests = error instanceof ConnectionEndedError && error.code !== 'reset';
        if (error instanceof ConnectionEndedError && kept?.received === '') traffic.unaccepted.push(id);
        else if (!isBetweenRequests && !isWhileConnecting(error)) traffic.problems.push(String(error));
      }
      kept?.destroy();
      kept = undefined;
      traffic.reconnects += 1;
    }
    kept?.destroy();
  };
  const running = Promise.all(Array.from({ length: count }, client));
  return Object.assign(traffic, {
    async stop() {
      state.over = true;
      await running;
    },
  });
}

/**
 * With several sockets on a port the kernel assigns each its own connections. When a socket closes, the kernel resets
 * the connections that wait to be accepted from it. A client sees the reset while it connects, or at its first request,
 * which no gateway has read, so the request's event must not be stored.
 */
function isWhileConnecting(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'connect';
}

/** Like `rawClients`, through a connection pool such as servers use. */
function pooledClients(port: number, count: number): Traffic {
  const traffic = { answered: 0, reconnects: 0, problems: [] as string[], unaccepted: [] as string[] };
  const silent = new WeakSet<Error>();
  const connect = buildConnector({});
  const pool = new Pool(`http://127.0.0.1:${port}`, {
    connections: count,
    connect: (options, callback) =>
      connect(options, (...[error, socket]) => {
        // Errors of connections without any answer; a request that fails with one of these errors was not accepted.
        socket?.prependListener('error', (problem) => {
          if (socket.bytesRead === 0) silent.add(problem);
        });
        if (error === null) callback(null, socket);
        else callback(error, null);
      }),
  });
  pool.on('connect', () => (traffic.reconnects += 1));
  const state = { over: false };
  const client = async (): Promise<void> => {
    while (!state.over) {
      const id = newId();
      try {
        const answer = await pool.request({
          path: '/api/v1/track',
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: body(id),
        });
        await answer.body.dump();
        if (answer.statusCode !== 200) traffic.problems.push(String(answer.statusCode));
        traffic.answered += 1;
      } catch (error) {
        if (error instanceof Error && silent.has(error)) traffic.unaccepted.push(id);
        else if (!isWhileConnecting(error)) traffic.problems.push(String(error));
      }
    }
  };
  const running = Promise.all(Array.from({ length: count }, client));
  return Object.assign(traffic, {
    async stop() {
      state.over = true;
      await running;
      await pool.destroy();
    },
  });
}

test('rolling restart: while two gateways on one port restart in turn under load, no request fails and no connection is reset', async () => {
  const port = await findFreePort();
  const variables = { GATEWAY_PORT: String(port), GATEWAY_REUSE_PORT: 'true', SHUTDOWN_IDLE_MS: '5000' };
  const start = (): Promise<GatewayProcess> => startGatewayProcess(nats.url, variables);
  const gateways = await Promise.all([start(), start()]);
  const traffic = [rawClients(port, 8), pooledClients(port, 8)];
  onTestFinished(async () => {
    await Promise.all(traffic.map((each) => each.stop()));
    await Promise.all(gateways.map((gateway) => gateway.stop()));
  });
  for (let turn = 0; turn < 4; turn += 1) {
    const before = traffic.map(({ answered }) => answered);
    await gateways[turn % 2]?.stop();
    expect(await gateways[turn % 2]?.exitCode).toBe(0);
    await until('the other one answers them all', () =>
      traffic.every((each, i) => each.answered > (before[i] ?? 0) + 50),
    );
    gateways[turn % 2] = await start();
  }
  await Promise.all(traffic.map((each) => each.stop()));
  expect(traffic.flatMap(({ problems }) => problems).join('\n')).toBe('');
  const stored = await storedIds();
  expect(traffic.flatMap(({ unaccepted }) => unaccepted).filter((id) => stored.has(id))).toEqual([]);
  // The restarts had an effect, because connections have moved.
  for (const { reconnects } of traffic) expect(reconnects).toBeGreaterThan(8);
}, 120_000);
