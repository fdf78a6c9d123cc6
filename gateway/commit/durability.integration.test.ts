import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, expect, test } from 'vitest';
import { readTopologySettings, topologyEnv } from '../../shared/nats/streams/topology-settings.ts';
import { defaultsOf } from '../../shared/runtime/env.ts';
import { makeTestLog } from '../../shared/testing/make-test-log.ts';
import { startTestNats, createNatsFolder } from '../../shared/testing/servers.ts';
import type { NatsServer } from '../../shared/embedded/nats/nats-server.ts';
import { streams } from '../../shared/nats/streams/topology.ts';
import { startGatewayProcess } from '../testing/gateway-process.ts';
import { startGatewayHere } from '../testing/gateway-here.ts';
import type { GatewayUnderTest } from '../testing/gateway-here.ts';
import { until } from '../../shared/testing/until.ts';
import { openTestLog } from '../testing/test-log.ts';
import type { TestLog } from '../testing/test-log.ts';
import { allTestSources, testSources } from '../testing/test-sources.ts';
import { client } from '../../shared/nats/connection/client.ts';

const { token } = testSources.server;
/** The gateway's default, for tests of a log that does not answer. */
const usualDeadline = { REQUEST_DEADLINE_MS: '2000' };

const cleanUps: (() => Promise<void>)[] = [];
const cleanUp = async (): Promise<void> => {
  for (const step of cleanUps.splice(0).toReversed()) await step();
};
afterEach(cleanUp);
afterAll(cleanUp);

async function startLog(
  options: Parameters<typeof startTestNats>[0] = {},
): Promise<{ nats: NatsServer; log: TestLog }> {
  const nats = await startTestNats({ syncAlways: true, ...options });
  cleanUps.push(() => nats.stop());
  const log = await openTestLog(nats.url);
  cleanUps.push(() => log.close());
  await log.publishSources(allTestSources);
  return { nats, log };
}

type Answer = { readonly status: number; readonly retryAfter: string | null };

async function track(gateway: GatewayUnderTest, distinctId: string): Promise<Answer> {
  const answer = await fetch(`${gateway.url}/api/v1/track`, {
    method: 'POST',
    body: JSON.stringify({ token, event: 'Counted', distinctId, userId: distinctId }),
  });
  await answer.arrayBuffer();
  return { status: answer.status, retryAfter: answer.headers.get('retry-after') };
}

/** Sends tracks from several clients until it is stopped; remembers the ids that got a 200, and every other status. */
function startLoad(gateway: () => GatewayUnderTest, clients = 8) {
  const accepted: string[] = [];
  const refused: number[] = [];
  const state = { stopped: false, sent: 0 };
  const client = async (): Promise<void> => {
    while (!state.stopped) {
      state.sent += 1;
      const id = `load-${state.sent}`;
      try {
        const { status } = await track(gateway(), id);
        if (status === 200) accepted.push(id);
        else refused.push(status);
      } catch {
        // The gateway cannot be reached; whether it stored this event is unknown.
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  };
  const running = Promise.all(Array.from({ length: clients }, client));
  return {
    accepted,
    refused,
    async stop() {
      state.stopped = true;
      await running;
    },
  };
}

/** Ids that got a 200 and are not in the log. */
async function lost(log: TestLog, accepted: readonly string[]): Promise<string[]> {
  const stored = new Set((await log.envelopes()).map((envelope) => envelope.id));
  return accepted.filter((id) => !stored.has(id));
}

test('durability: no 200 without an acknowledgement; if the log stops answering, requests get 503, until the log is back', async () => {
  const { nats, log } = await startLog();
  const gateway = await startGatewayHere(nats.url, usualDeadline);
  cleanUps.push(() => gateway.stop());
  process.kill(nats.pid, 'SIGSTOP');
  try {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => track(gateway, `stopped-${i}`)));
    for (const { status, retryAfter } of answers) {
      expect(status).toBe(503);
      expect(retryAfter).toBe('1');
    }
    const atOnce = await track(gateway, 'stopped-late');
    expect(atOnce.status).toBe(503);
    await until('readiness is false', async () => (await gateway.readiness()).status === 503);
  } finally {
    process.kill(nats.pid, 'SIGCONT');
  }
  await until('tracks are taken again', async () => (await track(gateway, 'again')).status === 200);
  await until('the gateway is ready again', async () => (await gateway.readiness()).status === 200);
  expect((await log.envelopes()).map((envelope) => envelope.id)).toContain('again');
});

test('durability: if the log stores nothing of a batch, the answer is a 503 that lists its rows', async () => {
  const { nats } = await startLog();
  const gateway = await startGatewayHere(nats.url, usualDeadline);
  cleanUps.push(() => gateway.stop());
  process.kill(nats.pid, 'SIGSTOP');
  try {
    const events = [{ event: 'a', distinctId: 'b-0' }, { event: 'a' }];
    const answer = await fetch(`${gateway.url}/api/v1/batch`, {
      method: 'POST',
      body: JSON.stringify({ token, events }),
    });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(await answer.json()).toMatchObject({
      success: false,
      retryable: true,
      results: [
        { index: 0, success: false, code: 'queue_failed' },
        { index: 1, success: false, code: 'invalid_event' },
      ],
    });
  } finally {
    process.kill(nats.pid, 'SIGCONT');
  }
});

test('durability: every event that got a 200 is in the log after nats-server was killed under load', async () => {
  const storeDir = await createNatsFolder();
  const { nats, log } = await startLog({ storeDir });
  const gateway = await startGatewayHere(nats.url, usualDeadline);
  cleanUps.push(() => gateway.stop());
  const load = startLoad(() => gateway);
  await until('tracks are accepted', () => load.accepted.length > 200);
  await nats.kill();
  await until('tracks are refused', () => load.refused.includes(503));
  const again = await startTestNats({ storeDir, port: nats.port });
  cleanUps.push(() => again.stop());
  const before = load.accepted.length;
  await until('tracks are accepted again', () => load.accepted.length > before + 200);
  await load.stop();
  expect(new Set(load.refused)).toEqual(new Set([503]));
  await until('the test is connected again', () => log.connection.connected);
  expect(await lost(log, load.accepted)).toEqual([]);
});

test('durability: every event that got a 200 is in the log after the gateway was killed under load', async () => {
  const { nats, log } = await startLog();
  let gateway = await startGatewayProcess(nats.url);
  const load = startLoad(() => gateway);
  await until('tracks are accepted', () => load.accepted.length > 200);
  await gateway.kill();
  gateway = await startGatewayProcess(nats.url);
  cleanUps.push(() => gateway.stop());
  const before = load.accepted.length;
  await until('tracks are accepted again', () => load.accepted.length > before + 200);
  await load.stop();
  expect(await lost(log, load.accepted)).toEqual([]);
});

test('durability: after SIGTERM under load, all accepted events are answered, none is lost, and the exit code is 0', async () => {
  const { nats, log } = await startLog();
  const gateway = await startGatewayProcess(nats.url);
  const load = startLoad(() => gateway);
  await until('tracks are accepted', () => load.accepted.length > 200);
  await gateway.stop();
  expect(await gateway.exitCode).toBe(0);
  await load.stop();
  expect(load.refused).toEqual([]);
  expect(await lost(log, load.accepted)).toEqual([]);
});

test('durability: while the log is full, requests get 503 and readiness says why; room in the log ends this', async () => {
  const { nats, log } = await startLog();
  const gateway = await startGatewayHere(nats.url, { LOG_INGEST_BYTES_MAX: String(1024 ** 2) });
  cleanUps.push(() => gateway.stop());
  const filler = 'x'.repeat(200_000);
  const send = async (): Promise<number> => {
    const body = JSON.stringify({ token, event: 'Large', filler });
    return (await fetch(`${gateway.url}/api/v1/track`, { method: 'POST', body })).status;
  };
  // Another writer fills the log, because the quota of this gateway's account would cause a 429 before the log is full.
  const fill = (): Promise<unknown> => log.connection[client].js.publish('ingest.0', filler);
  await until('the log is full', () =>
    fill().then(
      () => false,
      () => true,
    ),
  );
  await until('it is refused', async () => (await send()) === 503);
  expect((await gateway.readiness()).body).toContain('full');
  await log.connection[client].jsm.streams.purge(streams.ingest);
  await until('there is room again', async () => (await send()) === 200);
  expect((await gateway.readiness()).status).toBe(200);
});

test('configuration: after the log was replaced by an empty one, the gateway goes on, and the next publish takes effect', async () => {
  const { nats } = await startLog();
  const gateway = await startGatewayHere(nats.url);
  cleanUps.push(() => gateway.stop());
  await nats.kill();
  const empty = await startTestNats({ port: nats.port });
  cleanUps.push(() => empty.stop());
  await makeTestLog(empty, readTopologySettings(defaultsOf(topologyEnv)));
  // The gateway keeps the configuration that was in force.
  await until('tracks are taken', async () => (await track(gateway, 'again').catch(() => undefined))?.status === 200);
  const log = await openTestLog(empty.url);
  cleanUps.push(() => log.close());
  await log.publishSources([]);
  await until('the new configuration holds', async () => (await track(gateway, 'refused')).status === 401);
  expect((await log.envelopes()).map((envelope) => envelope.id)).toContain('again');
});

test('limits: a source that exceeds its rate gets 429 with the time to wait', async () => {
  const { nats } = await startLog();
  const gateway = await startGatewayHere(nats.url, { RATE_LIMIT_EVENTS_PER_S: '2' });
  cleanUps.push(() => gateway.stop());
  const answers: Answer[] = [];
  // On a slow machine the bucket regains a token or two meanwhile.
  for (let i = 0; answers.at(-1)?.status !== 429 && i < 100; i += 1) answers.push(await track(gateway, `limited-${i}`));
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(4);
  expect(answers.at(-1)).toMatchObject({ status: 429, retryAfter: '1' });
  const other = JSON.stringify({ token: testSources.web.token, event: 'a' });
  expect((await fetch(`${gateway.url}/api/v1/track`, { method: 'POST', body: other })).status).toBe(200);
  const batch = JSON.stringify({
    token,
    events: Array.from({ length: 4 }, (_, i) => ({ event: 'a', distinctId: `x${i}` })),
  });
  const sendBatch = () => fetch(`${gateway.url}/api/v1/batch`, { method: 'POST', body: batch });
  // The first batch is accepted if two seconds have passed meanwhile.
  let refused = await sendBatch();
  for (let i = 0; refused.status === 200 && i < 100; i += 1) refused = await sendBatch();
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({ success: false, error: expect.any(String) as string });
});

test('limits: a source that sends too many bytes gets 429, and a compressed body counts by its unpacked size', async () => {
  const { nats } = await startLog();
  const gateway = await startGatewayHere(nats.url, { RATE_LIMIT_BYTES_PER_S: '5000' });
  cleanUps.push(() => gateway.stop());
  const rows = (note: string) =>
    JSON.stringify({
      token,
      events: Array.from({ length: 60 }, (_, i) => ({ event: 'a', distinctId: `b${i}`, properties: { note } })),
    });
  const send = (body: string | Buffer<ArrayBuffer>, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}/api/v1/batch`, { method: 'POST', body, headers });
  // A batch larger than the bucket's capacity is accepted once, as a debt.
  const packed = gzipSync(rows('x'.repeat(1_000)));
  expect(packed.length).toBeLessThan(3_000);
  expect((await send(packed, { 'content-encoding': 'gzip' })).status).toBe(200);
  const refused = await send(rows(''));
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(5);
  expect(await refused.json()).toMatchObject({ success: false, error: expect.stringMatching(/bytes/) as string });
  const other = JSON.stringify({ token: testSources.web.token, event: 'a' });
  expect((await fetch(`${gateway.url}/api/v1/track`, { method: 'POST', body: other })).status).toBe(200);
});

test('start: a busy port is an error that names its variable', async () => {
  const { nats } = await startLog();
  const gateway = await startGatewayHere(nats.url);
  cleanUps.push(() => gateway.stop());
  await expect(startGatewayHere(nats.url, { GATEWAY_PORT: String(gateway.port) })).rejects.toThrow(/GATEWAY_PORT/);
});

test('start: if INSTANCE_ID is in use, the error names it; after that process is killed, the id is free', async () => {
  const { nats } = await startLog();
  const gateway = await startGatewayProcess(nats.url, { INSTANCE_ID: 'one' });
  await expect(startGatewayHere(nats.url, { INSTANCE_ID: 'one' })).rejects.toThrow(/INSTANCE_ID one: process \d+/);
  await gateway.kill();
  const next = await startGatewayHere(nats.url, { INSTANCE_ID: 'one' });
  cleanUps.push(() => next.stop());
  expect(await track(next, 'next')).toMatchObject({ status: 200 });
});

test('start: if the server cannot keep enough copies, the error names LOG_REPLICAS', async () => {
  const { nats } = await startLog();
  await expect(startGatewayHere(nats.url, { LOG_REPLICAS: '3' }, { makesLog: false })).rejects.toThrow(
    /LOG_REPLICAS is 3/,
  );
});
