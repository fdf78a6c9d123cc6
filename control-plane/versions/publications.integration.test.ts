import { afterAll, beforeAll, expect, test } from 'vitest';
import { lockAccount } from '../draft/edit-entities.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;

beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(() => plane.stop());

test('publications: versions that the previous build published are recorded with the next publication', async () => {
  const client = await plane.newAccount();
  const first = await client.publish();
  const em = plane.storage.fork();
  const publishedAt: string[] = [];
  for (const name of ['second', 'third']) {
    const { body } = await client.post('/versions', { name });
    const now = new Date();
    await em.execute(
      'update versions set published_at = ?, published_by_user_id = ?, published_by_user_name = ? where id = ?',
      [now, 'k', `by ${name}`, body.id],
    );
    await em.execute('update accounts set live_version_id = ? where id = ?', [body.id, client.accountId]);
    publishedAt.push(now.toISOString());
  }
  const fourth = await client.publish();
  const { body: history } = await client.get('/publications');
  expect(history.entities).toMatchObject([
    { versionNumber: 4, publishedAt: fourth.publishedAt, endedAt: null, publishedByName: 'test' },
    { versionNumber: 3, publishedAt: publishedAt[1], endedAt: fourth.publishedAt, publishedByName: 'by third' },
    { versionNumber: 2, publishedAt: publishedAt[0], endedAt: publishedAt[1], publishedById: 'k' },
    { versionNumber: 1, publishedAt: first.publishedAt, endedAt: publishedAt[0] },
  ]);
});

test('publish: a destination that is disabled between the check of waiting events and the publish prevents the publish', async () => {
  const client = await plane.newAccount();
  const settings = { httpDestinationUrl: 'https://example.com/' };
  const { body } = await client.post('/destinations', { type: 'HTTPDestination', name: 'Warehouse', settings });
  const live = await client.publish();
  await client.patch(`/destinations/${body.id}`, { name: 'Lake' });
  const isWaiting = async (): Promise<boolean> => {
    const sql = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    return (await plane.storage.fork().execute(sql)).length === 1;
  };
  let publishing: ReturnType<typeof client.post> | undefined;
  await plane.storage.fork().transactional(async (em) => {
    await lockAccount(em, client.accountId);
    publishing = client.post('/versions', { publish: true });
    await expect.poll(isWaiting).toBe(true);
    await em.execute(`update entities set body = jsonb_set(body, '{status}', '"Disabled"') where id = ?`, [body.id]);
  });
  expect(await publishing).toMatchObject({ status: 409, body: { error: expect.stringContaining('try again') } });
  expect((await client.get('/publications')).body.entities).toMatchObject([{ versionNumber: live.versionNumber }]);
  expect((await client.post('/versions', { publish: true })).status).toBe(200);
});
