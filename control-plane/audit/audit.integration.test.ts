import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;

beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(() => plane.stop());

type Entry = {
  readonly action: string;
  readonly actorId: string;
  readonly actorName: string;
  readonly entityId: string | null;
  readonly details: object;
};

test('audit: says who changed and published what, without any value', async () => {
  const client = await plane.newAccount();
  const other = await plane.newKey(client, ['destination:update']);
  const settings = { httpDestinationUrl: 'https://canary.example/', headers: '{"X":"canary"}' };
  const { body: destination } = await client.post('/destinations', { type: 'HTTPDestination', settings });
  const path = `/destinations/${destination.id}`;
  await other.patch(path, { name: 'canary', settings: { method: 'PUT' } });
  // Nothing changes, so there is nothing to tell.
  await other.patch(path, { name: 'canary' });
  await client.post('/destinations', { type: 'HTTPDestination', settings: { httpDestinationUrl: 'nowhere' } });
  const version = await client.publish();
  await client.delete(path);
  await client.post('/versions/draft/abandon');
  const { body } = await client.get('/audit');
  const entries = body.entities as Entry[];
  expect(entries.map(({ action }) => action)).toEqual([
    'draft.abandon',
    'destination.delete',
    'version.publish',
    'version.create',
    'destination.update',
    'destination.create',
  ]);
  const update = entries.find(({ action }) => action === 'destination.update');
  expect(update).toMatchObject({
    actorId: other.keyId,
    actorName: 'test',
    collection: 'destinations',
    entityId: destination.id,
    details: { fields: ['name', 'settings'] },
  });
  const publish = entries.find(({ action }) => action === 'version.publish');
  expect(publish).toMatchObject({ actorId: client.keyId, entityId: version.id, details: { versionNumber: 1 } });
  expect(JSON.stringify(body)).not.toContain('canary');
});

test('audit: pages and filters', async () => {
  const client = await plane.newAccount();
  for (let index = 0; index < 4; index += 1) await client.post('/sources', { type: 'NodejsApi' });
  await client.post('/versions');
  const first = await client.get('/audit?limit=3');
  expect(first.body.pagination.hasMore).toBe(true);
  const rest = await client.get(`/audit?limit=3&cursor=${first.body.pagination.nextCursor}`);
  expect([first.body.entities.length, rest.body.entities.length]).toEqual([3, 2]);
  const count = async (query: string): Promise<number> => (await client.get(`/audit?${query}`)).body.entities.length;
  expect(await count('action=source.create')).toBe(4);
  expect(await count('collection=sources')).toBe(4);
  expect(await count('action=version.create')).toBe(1);
  expect(await count('entityId=nothing')).toBe(0);
});
