import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBuckets } from '../../shared/nats/buckets/open-buckets.ts';
import type { Buckets } from '../../shared/nats/buckets/open-buckets.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;
let buckets: Buckets;

beforeAll(async () => {
  plane = await startTestControlPlane();
  buckets = await openBuckets(plane.log, 1);
});
afterAll(() => plane.stop());

const report = (key: string, value: unknown): Promise<number> =>
  buckets.health.put(key, Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));

test('sources: show the newest time that any gateway or pipeline reports', async () => {
  const client = await plane.newAccount();
  const { body: source } = await client.post('/sources', { type: 'NodejsApi' });
  const path = `/sources/${source.id}`;
  expect((await client.get(path)).body).toMatchObject({ lastTriggeredAt: null, lastDispatchedAt: null });
  await report(`source.${source.id}.one`, { lastTriggeredAt: 1_700_000_000_000 });
  await report(`source.${source.id}.two`, { lastTriggeredAt: 1_700_000_060_000 });
  await report(`source.${source.id}.three`, { lastTriggeredAt: null });
  await report(`source.${source.id}.broken`, 'not JSON');
  await report(`source-dispatch.${source.id}.one`, { lastDispatchedAt: 1_700_000_120_000 });
  await expect
    .poll(async () => (await client.get(path)).body)
    .toMatchObject({ lastTriggeredAt: '2023-11-14T22:14:20.000Z', lastDispatchedAt: '2023-11-14T22:15:20.000Z' });
  const { body: list } = await client.get('/sources');
  expect(list.entities[0].lastTriggeredAt).toBe('2023-11-14T22:14:20.000Z');
});

test('health: adds up the reports of all instances, and is NO_DATA without reports', async () => {
  const client = await plane.newAccount();
  const settings = { httpDestinationUrl: 'https://example.com/' };
  const { body: destination } = await client.post('/destinations', { type: 'HTTPDestination', settings });
  const path = `/destinations/${destination.id}/health`;
  const { body: empty } = await client.get(path);
  expect(empty).toMatchObject({ status: 'NO_DATA', totalDispatches: 0, successRate: null, lastDispatchedAt: null });
  expect(Date.parse(empty.windowEnd) - Date.parse(empty.windowStart)).toBe(86_400_000);
  const minute = Math.floor(Date.now() / 60_000);
  const key = `destination.${destination.id}`;
  await report(`${key}.one`, { v: 1, minutes: [[minute, 90, 3, 2, 1]], lastDispatchedAt: minute * 60_000 });
  const past = [
    [minute - 5, 5, 0, 0, 0],
    [minute, 7, 7, 7, 7],
  ];
  await report(`${key}.one.past`, { v: 1, minutes: past, lastDispatchedAt: null });
  await report(`${key}.two`, { v: 1, minutes: [[minute - 5, 1, 1, 0, 0]], lastDispatchedAt: null });
  await report(`${key}.three`, { v: 2, minutes: [[minute, 1_000, 0, 0, 0]] });
  await expect
    .poll(async () => (await client.get(path)).body)
    .toMatchObject({
      status: 'HEALTHY',
      totalDispatches: 103,
      successCount: 96,
      failureCount: 4,
      stoppedCount: 2,
      globalStopCount: 1,
      successRate: 0.96,
      lastDispatchedAt: new Date(minute * 60_000).toISOString(),
    });
});
