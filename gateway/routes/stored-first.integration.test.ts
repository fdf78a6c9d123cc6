import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { NatsServer } from '../../shared/embedded/nats/nats-server.ts';
import { openLogGate } from '../../shared/testing/log-gate.ts';
import type { LogGate } from '../../shared/testing/log-gate.ts';
import { startTestNats } from '../../shared/testing/servers.ts';
import { identify, track } from '../testing/contract-row.ts';
import { startGatewayHere } from '../testing/gateway-here.ts';
import type { GatewayUnderTest } from '../testing/gateway-here.ts';
import { until } from '../../shared/testing/until.ts';
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

/** Every route for events, with an event that the route accepts. */
const waysIn: readonly { readonly name: string; readonly path: string; readonly body?: object }[] = [
  { name: 'track', path: '/api/v1/track', body: track({}) },
  { name: 'identify', path: '/api/v1/identify', body: identify({ userId: 'u' }) },
  { name: 'batch', path: '/api/v1/batch', body: { token: key, events: [{ event: 'Try', distinctId: 'd' }] } },
  { name: 'pixel', path: `/pixel/${key}.gif?event=Seen` },
  { name: 'webhook', path: `/webhook/${testSources.hook.token}`, body: { any: 'form' } },
  { name: 'Segment, one message', path: `/v1/t?writeKey=${key}`, body: { ...tried, writeKey: key } },
  { name: 'Segment, a batch', path: '/v1/batch', body: { writeKey: key, batch: [tried] } },
  { name: 'RudderStack', path: `/beacon/v1/batch?writeKey=${key}`, body: { batch: [tried] } },
  { name: 'PostHog, one event', path: '/e/', body: { token: key, ...capture } },
  { name: 'PostHog, a batch', path: '/batch/', body: { api_key: key, batch: [capture] } },
];

async function send(path: string, body?: object, to = gateway): Promise<number> {
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const answer = await fetch(`${to.url}${path}`, body === undefined ? {} : post);
  await answer.arrayBuffer();
  return answer.status;
}

test.each(waysIn)(
  'stored first: $name: is answered once the log has the event, and not before',
  async ({ path, body }) => {
    const held = gate.hold('ingest.*');
    let status: number | undefined;
    const answered = send(path, body).then((given) => (status = given));
    await held.arrived;
    // While the event is not stored, another request is sent and answered. An answer that did not wait would arrive
    // before that.
    expect(await send('/api/v1/openapi')).toBe(200);
    expect(status).toBeUndefined();
    const before = (await log.envelopes()).length;
    held.release();
    expect(await answered).toBe(200);
    expect((await log.envelopes()).length).toBe(before + 1);
  },
);

test.each(waysIn)('stored first: $name: an event that the log refuses is refused', async ({ path, body }) => {
  const before = (await log.envelopes()).length;
  const refused = gate.refuse('ingest.*');
  expect(await send(path, body)).toBe(503);
  expect(refused.messages.length).toBeGreaterThan(0);
  refused.release();
  expect((await log.envelopes()).length).toBe(before);
});

test('stored first: while the log is away, a short link redirects and every other event is refused', async () => {
  const ownGate = await openLogGate(nats.url);
  const cutOff = await startGatewayHere(ownGate.url);
  onTestFinished(() => cutOff.stop());
  await ownGate.close();
  await until('the gateway notices', async () => (await cutOff.readiness()).body.includes('not connected'));
  for (const { name, path, body } of waysIn) expect([name, await send(path, body, cutOff)]).toEqual([name, 503]);
  const answer = await fetch(`${cutOff.url}/redirect/link`, { redirect: 'manual' });
  expect(answer.status).toBe(302);
  expect(answer.headers.get('location')).toBe('https://example.com/landing?a=b');
  expect(await cutOff.metrics()).toContain(
    'sluice_gateway_events_total{source_type="RedirectSource",result="lost"} 1\n',
  );
});
