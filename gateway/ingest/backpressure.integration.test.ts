import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { backpressureKey, encodeBackpressure } from '../../shared/contracts/backpressure.ts';
import { hashSourceKey } from '../../shared/contracts/config/account-config.ts';
import type { NatsServer } from '../../shared/embedded/nats/nats-server.ts';
import { openBuckets } from '../../shared/nats/buckets/open-buckets.ts';
import type { Buckets } from '../../shared/nats/buckets/open-buckets.ts';
import { startTestNats } from '../../shared/testing/servers.ts';
import { putAccountConfig } from '../../shared/testing/put-account-config.ts';
import { testAccountConfig } from '../../shared/testing/test-account-config.ts';
import { startGatewayHere } from '../testing/gateway-here.ts';
import type { GatewayUnderTest } from '../testing/gateway-here.ts';
import { openTestLog, testAccountId } from '../testing/test-log.ts';
import type { TestLog } from '../testing/test-log.ts';
import { until } from '../../shared/testing/until.ts';
import { testSources } from '../testing/test-sources.ts';

const within = { timeout: 30_000, interval: 50 };
const otherToken = 'src_live_other_account_0123456789';

let nats: NatsServer;
let log: TestLog;
let buckets: Buckets;
let gateway: GatewayUnderTest;

beforeAll(async () => {
  nats = await startTestNats();
  log = await openTestLog(nats.url);
  buckets = await openBuckets(log.connection, 1);
  await log.publishSources([testSources.server, testSources.link]);
  const source = { id: 'other', name: 'other', type: 'NodejsApi', status: 'Enabled' };
  const sourceKeys = [{ keyHash: hashSourceKey(otherToken), sourceId: 'other', test: false }];
  const other = testAccountConfig({ sources: [source] }, { accountId: 'account-2', sourceKeys });
  await putAccountConfig(buckets, other);
  gateway = await startGatewayHere(nats.url);
});
afterAll(async () => {
  await gateway.stop();
  await log.close();
  await nats.stop();
});

const post = async (path: string, body: object) => {
  const answer = await fetch(`${gateway.url}/api/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body: await answer.json() };
};
const track = (token: string) => post('track', { token, event: 'a' });
const tell = (report: Omit<Parameters<typeof encodeBackpressure>[0], 'v'>) =>
  buckets.leases.put(backpressureKey('pipeline-1'), encodeBackpressure({ v: 1, ...report }));
const forget = () => buckets.leases.delete(backpressureKey('pipeline-1'));

/** Repeats a report as pipelines do, until the test is over. */
async function keepTelling(report: Parameters<typeof tell>[0]): Promise<void> {
  await tell(report);
  const timer = setInterval(() => void tell(report), 1_000);
  onTestFinished(async () => {
    clearInterval(timer);
    await forget();
    await until('no account is held back', async () => (await track(testSources.server.token)).status === 200);
  });
}

test('backpressure: an account whose events wait too long gets 429 with a time to wait, and other accounts do not', async () => {
  expect((await track(testSources.server.token)).status).toBe(200);
  await keepTelling({ accounts: [[testAccountId, 2_500]] });
  await expect.poll(async () => (await track(testSources.server.token)).status, within).toBe(429);
  expect(await track(testSources.server.token)).toEqual({
    status: 429,
    retryAfter: '3',
    body: { success: false, error: expect.stringContaining('have waited too long to be delivered') as string },
  });
  expect((await post('batch', { token: testSources.server.token, events: [{ event: 'a' }] })).status).toBe(429);
  expect((await track(otherToken)).status).toBe(200);
  expect(await gateway.metrics()).toMatch(/events_total\{source_type="NodejsApi",result="backpressure"\} [1-9]/);
  expect(await gateway.metrics()).toContain('sluice_gateway_backpressure_accounts 1\n');
});

test('backpressure: a redirect still answers with its link, and its event is counted but not stored', async () => {
  await keepTelling({ accounts: [[testAccountId, 2_500]] });
  await expect.poll(async () => (await track(testSources.server.token)).status, within).toBe(429);
  const followed = await fetch(`${gateway.url}/redirect/link?distinctId=held-back`, { redirect: 'manual' });
  expect(followed.status).toBe(302);
  expect(followed.headers.get('location')).toBe('https://example.com/landing?a=b');
  expect((await log.envelopes()).map(({ id }) => id)).not.toContain('held-back');
  expect(await gateway.metrics()).toMatch(/events_total\{source_type="RedirectSource",result="backpressure"\} 1\n/);
});

test('backpressure: when the resolver is late, the account that sent most gets 429, and one that sent little does not', async () => {
  const events = Array.from({ length: 500 }, (_, id) => ({ event: 'a', distinctId: `many-${id}` }));
  expect((await post('batch', { token: testSources.server.token, events })).status).toBe(200);
  expect((await track(otherToken)).status).toBe(200);
  await keepTelling({ accounts: [], resolve: { ageMs: 1_000, ageMaxMs: 1_000 } });
  await expect.poll(async () => (await track(testSources.server.token)).status, within).toBe(429);
  expect((await track(otherToken)).status).toBe(200);
});

test('backpressure: the report of a pipeline that is gone is dropped', async () => {
  await tell({ accounts: [[testAccountId, 2_500]] });
  await expect.poll(async () => (await track(testSources.server.token)).status, within).toBe(429);
  await expect.poll(async () => (await track(testSources.server.token)).status, within).toBe(200);
});
