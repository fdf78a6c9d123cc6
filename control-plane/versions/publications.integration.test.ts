import { afterAll, beforeAll, expect, test } from 'vitest';
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
