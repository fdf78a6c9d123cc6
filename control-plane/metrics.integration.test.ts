import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestControlPlane } from './testing/test-control-plane.ts';
import type { TestControlPlane } from './testing/test-control-plane.ts';

const within = { timeout: 45_000, interval: 50 };

let controlPlane: TestControlPlane;

beforeAll(async () => {
  controlPlane = await startTestControlPlane();
});

afterAll(() => controlPlane.stop());

type Page = Pick<TestControlPlane, 'metrics'>;

/** The value of a series on a metrics page; undefined if the page does not have it. */
async function valueOf(page: Page, series: string): Promise<number | undefined> {
  const line = (await page.metrics()).split('\n').find((text) => text.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

test('metrics: the counter of a route is there with zero before its first request', async () => {
  const series = 'sluice_control_plane_requests_total{route="/rest/v1/destinations",method="POST",code="500"}';
  expect(await valueOf(controlPlane, series)).toBe(0);
});

test('metrics: requests are counted by route, not by address', async () => {
  const client = await controlPlane.newAccount();
  await client.get('/destinations/0190d6e8-0000-7000-8000-000000000000');
  const count = 'sluice_control_plane_requests_total{route="/rest/v1/destinations/:id",method="GET",code="404"}';
  await expect.poll(() => valueOf(controlPlane, count), within).toBe(1);
  const times = 'sluice_control_plane_request_duration_seconds_count{route="/rest/v1/destinations/:id",method="GET"}';
  expect(await valueOf(controlPlane, times)).toBe(1);
});

test('metrics: a control plane that does not lead knows the revision in force as well', async () => {
  const another = await controlPlane.startAnother();
  const client = await controlPlane.newAccount();
  await client.post('/sources', { name: 'web', type: 'WebSource' });
  await client.publish();
  const revision = (page: Page): Promise<number | undefined> => valueOf(page, 'sluice_config_revision');
  await expect.poll(() => revision(controlPlane), within).toBeGreaterThan(0);
  await expect.poll(() => revision(another), within).toBe(await revision(controlPlane));
  const leads = (page: Page): Promise<number | undefined> => valueOf(page, 'sluice_config_leader');
  expect([await leads(controlPlane), await leads(another)]).toEqual([1, 0]);
});

test('metrics: the pools of connections are shown', async () => {
  expect(await valueOf(controlPlane, 'sluice_database_connections_limit{pool="configuration"}')).toBe(10);
  expect(await valueOf(controlPlane, 'sluice_database_waiting_queries{pool="visitors"}')).toBe(0);
});
