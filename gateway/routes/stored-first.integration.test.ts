import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NatsServer } from '../../shared/embedded/nats/nats-server.ts';
import { openLogGate } from '../../shared/testing/log-gate.ts';
import type { LogGate } from '../../shared/testing/log-gate.ts';
import { startTestNats } from '../../shared/testing/servers.ts';
import { identify, track } from '../testing/contract-row.ts';
import { startGatewayHere } from '../testing/gateway-here.ts';
import type { GatewayUnderTest } from '../testing/gateway-here.ts';
import { openTestLog } from '../testing/test-log.ts';
import type { TestLog } from '../testing/test-log.ts';
import { allTestSources, testSources } from '../testing/test-sources.ts';

let nats: NatsServer;
let gate: LogGate;
let log: TestLog;
let gateway: GatewayUnderTest;

beforeAll(async () => {
  nats = await startTestNats();
  gate = await openLogGate(nats.url);
  log = await openTestLog(nats.url);
  await log.publishSources(allTestSources);
  gateway = await startGatewayHere(gate.url);
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([log.close(), gate.close()]);
  await nats.stop();
});

const key = testSources.web.token;
const capture = { event: 'Try', distinct_id: 'u' };
const tried = { type: 'track', event: 'Try', userId: 'u' };

/** Every way in for events, with an event that it takes. */
const waysIn: readonly (readonly [name: string, path: string, body?: object])[] = [
  ['track', '/api/v1/track', track({})],
  ['identify', '/api/v1/identify', identify({ userId: 'u' })],
  ['batch', '/api/v1/batch', { token: key, events: [{ event: 'Try', distinctId: 'd' }] }],
  ['pixel', `/pixel/${key}.gif?event=Seen`],
  ['webhook', `/webhook/${testSources.hook.token}`, { any: 'form' }],
  ['Segment, one message', `/v1/t?writeKey=${key}`, { ...tried, writeKey: key }],
  ['Segment, a batch', '/v1/batch', { writeKey: key, batch: [tried] }],
  ['RudderStack', `/beacon/v1/batch?writeKey=${key}`, { batch: [tried] }],
  ['PostHog, one event', '/e/', { token: key, ...capture }],
  ['PostHog, a batch', '/batch/', { api_key: key, batch: [capture] }],
];

async function send(path: string, body: object | undefined): Promise<number> {
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const answer = await fetch(`${gateway.url}${path}`, body === undefined ? {} : post);
  await answer.arrayBuffer();
  return answer.status;
}

test.each(waysIn)('stored first: %s: is answered once the log has the event, and not before', async (_, path, body) => {
  const held = gate.hold('ingest.*');
  let status: number | undefined;
  const answered = send(path, body).then((given) => (status = given));
  await held.arrived;
  // Another request is answered meanwhile, so an answer that did not wait would be here.
  expect(await send('/api/v1/openapi', undefined)).toBe(200);
  expect(status).toBeUndefined();
  const before = (await log.envelopes()).length;
  held.release();
  expect(await answered).toBe(200);
  expect((await log.envelopes()).length).toBe(before + 1);
});

test.each(waysIn)('stored first: %s: an event that the log refuses is refused', async (_, path, body) => {
  const before = (await log.envelopes()).length;
  const refused = gate.refuse('ingest.*');
  expect(await send(path, body)).toBe(503);
  expect(refused.messages.length).toBeGreaterThan(0);
  refused.release();
  expect((await log.envelopes()).length).toBe(before);
});
