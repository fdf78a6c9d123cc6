import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { hashSourceKey } from '../../shared/contracts/config/account-config.ts';
import type { NatsServer } from '../../shared/embedded/nats/nats-server.ts';
import { openBuckets } from '../../shared/nats/buckets/open-buckets.ts';
import { purgeSubject } from '../../shared/nats/messages/subject-log.ts';
import { readStreamState } from '../../shared/nats/streams/stream-progress.ts';
import { streams } from '../../shared/nats/streams/topology.ts';
import { startTestNats } from '../../shared/testing/servers.ts';
import { putAccountConfig } from '../../shared/testing/put-account-config.ts';
import { testAccountConfig } from '../../shared/testing/test-account-config.ts';
import { startGatewayHere } from '../testing/gateway-here.ts';
import type { GatewayUnderTest } from '../testing/gateway-here.ts';
import { openTestLog } from '../testing/test-log.ts';
import type { TestLog } from '../testing/test-log.ts';
import { testSources } from '../testing/test-sources.ts';

const capacity = 4 * 1024 ** 2;
const loud = testSources.server.token;
const quiet = 'src_live_quiet_account_0123456789';

let nats: NatsServer;
let log: TestLog;

beforeAll(async () => {
  nats = await startTestNats();
  log = await openTestLog(nats.url);
  const buckets = await openBuckets(log.connection, 1);
  await log.publishSources([testSources.server]);
  const source = { id: 'quiet', name: 'quiet', type: 'NodejsApi', status: 'Enabled' };
  const sourceKeys = [{ keyHash: hashSourceKey(quiet), sourceId: 'quiet', test: false }];
  const config = testAccountConfig({ sources: [source] }, { accountId: 'account-2', sourceKeys });
  await putAccountConfig(buckets, config);
});
afterAll(async () => {
  await log?.close();
  await nats?.stop();
});

async function openGateway(): Promise<GatewayUnderTest> {
  const gateway = await startGatewayHere(nats.url, { LOG_INGEST_BYTES_MAX: String(capacity) });
  onTestFinished(async () => {
    await gateway.stop();
    await resolveAll();
  });
  return gateway;
}

/** Empties INGEST, as resolvers and retention do. */
const resolveAll = () => purgeSubject(log.connection, streams.ingest, 'ingest.*');
const ingestBytes = async (): Promise<number> => (await readStreamState(log.connection, streams.ingest)).bytes;

const post = (gateway: GatewayUnderTest, path: string, body: object) =>
  fetch(`${gateway.url}/api/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Sends a batch of about 100 KB. */
const flood = (gateway: GatewayUnderTest, token = loud) => {
  const eventProperties = { text: 'x'.repeat(10_000) };
  const events = Array.from({ length: 10 }, () => ({ event: 'a', distinctId: randomUUID(), eventProperties }));
  return post(gateway, 'batch', { token, events });
};

test('ingest quota: an account whose events fill its quota of the log gets 429 with a time to wait, until they are resolved', async () => {
  const gateway = await openGateway();
  await expect.poll(async () => (await flood(gateway)).status, { timeout: 10_000 }).toBe(429);
  const refused = await flood(gateway);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await refused.json()).toEqual({ success: false, error: expect.stringContaining('too many events of this account') as string }); // prettier-ignore
  expect((await post(gateway, 'track', { token: loud, event: 'a' })).status).toBe(429);
  expect(await ingestBytes()).toBeLessThan(capacity * 0.7);
  expect((await post(gateway, 'track', { token: quiet, event: 'a' })).status).toBe(200);
  expect(await gateway.metrics()).toContain('sluice_gateway_backpressure_accounts 1\n');
  await resolveAll();
  await expect.poll(async () => (await flood(gateway)).status, { timeout: 10_000 }).toBe(200);
});

test('ingest quota: an account cannot fill the log through several gateways, even after these were restarted', async () => {
  const gateways = [await openGateway(), await openGateway()];
  const isRefusedBy = async (gateway: GatewayUnderTest): Promise<boolean> => (await flood(gateway)).status === 429;
  for (const gateway of gateways) await expect.poll(() => isRefusedBy(gateway), { timeout: 10_000 }).toBe(true);
  const restarted = await openGateway();
  await expect.poll(() => isRefusedBy(restarted), { timeout: 10_000 }).toBe(true);
  expect(await ingestBytes()).toBeLessThan(capacity * 0.95);
  for (const gateway of [...gateways, restarted]) {
    expect((await post(gateway, 'track', { token: quiet, event: 'a' })).status).toBe(200);
  }
});

test('ingest quota: an account is never refused if its events are resolved as fast as they are sent', async () => {
  const gateway = await openGateway();
  for (let batches = 0; batches < (4 * capacity) / 100_000; batches += 1) {
    expect((await flood(gateway)).status).toBe(200);
    if (batches % 5 === 0) await resolveAll();
  }
});
