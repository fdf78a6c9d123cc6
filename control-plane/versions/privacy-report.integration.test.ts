import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;

beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(() => plane.stop());

test('privacy report: shows a published version as JSON and CSV, compared with the version before, to its account alone', async () => {
  const [client, other] = [await plane.newAccount(), await plane.newAccount()];
  const settings = { httpDestinationUrl: 'https://example.com/' };
  const { body: destination } = await client.post('/destinations', { type: 'HTTPDestination', name: 'Own', settings });
  const first = await client.publish();
  const created = await client.post('/collections/mappings', {
    name: 'Hashed',
    destinationId: destination.id,
    mappings: [{ property: 'em', map: '{{visitor.email}}', modification: 'Hash' }],
  });
  expect(created.status).toBe(200);
  const second = await client.publish();

  const { body: before } = await client.get(`/versions/${first.id}/privacy-report`);
  expect(before).toMatchObject({ versionNumber: 1, against: null, removed: [] });
  const { body: report } = await client.get(`/versions/${second.id}/privacy-report`);
  expect(report).toMatchObject({ versionNumber: 2, against: 1 });
  expect(report.added).toMatchObject([
    { event: '*', property: 'em', destination: 'Own', treatment: 'hashed', by: 'Hash', isConditional: false },
    { property: '*', treatment: 'omitted' },
  ]);
  expect(report.removed).toMatchObject([{ property: '*', treatment: 'plain' }]);
  const { body: same } = await client.get(`/versions/${second.id}/privacy-report?against=${second.id}`);
  expect([same.added, same.removed]).toEqual([[], []]);

  const csv = await fetch(`${plane.baseUrl}/rest/v1/versions/${second.id}/privacy-report?format=csv`, {
    headers: { authorization: `Bearer ${client.key}` },
  });
  expect(csv.headers.get('content-type')).toMatch(/^text\/csv/);
  expect((await csv.text()).split('\r\n')[1]).toMatch(/^"added","\*","em","Own",/);
  expect((await other.get(`/versions/${second.id}/privacy-report`)).status).toBe(404);
  const keyless = await plane.newKey(client, ['event:list']);
  expect((await keyless.get(`/versions/${second.id}/privacy-report`)).status).toBe(403);
});
