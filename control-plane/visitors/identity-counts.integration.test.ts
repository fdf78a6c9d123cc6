import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestPool } from '../../shared/testing/test-pool.ts';
import { addIdentityCounts, deleteOldIdentityCounts } from '../../shared/visitors/identity-counts.ts';
import type { IdentityCount } from '../../shared/visitors/identity-counts.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;

beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(() => plane.stop());

const hourMs = 3_600_000;

test('identity counts: summed by source and reason over a range, also for a single source, and deleted after 8 days', async () => {
  const client = await plane.newAccount();
  const thisHourMs = Math.floor(Date.now() / hourMs) * hourMs;
  const row = (hoursAgo: number, more: Partial<IdentityCount>): IdentityCount => ({
    accountId: client.accountId,
    hourAtMs: thisHourMs - hoursAgo * hourMs,
    sourceId: 'web',
    reason: 'blocked',
    count: 1,
    lastAtMs: thisHourMs - hoursAgo * hourMs,
    ...more,
  });
  const pool = openTestPool(plane.databaseUrl, 1);
  await addIdentityCounts(pool, [
    row(1, { count: 3 }),
    row(1, {}),
    row(30, {}),
    row(2, { sourceId: 'app', reason: 'full' }),
  ]);
  await addIdentityCounts(pool, [row(1, { count: 2 }), row(200, { count: 9 })]);
  const read = async (query: string): Promise<unknown[]> => {
    const { status, body } = await client.get(`/identity-counts${query}`);
    expect(status).toBe(200);
    return body.entities.map((entity: Record<string, unknown>) => [
      entity['sourceId'],
      entity['reason'],
      entity['count'],
    ]);
  };
  expect(await read('')).toEqual([
    ['web', 'blocked', 6],
    ['app', 'full', 1],
  ]);
  expect(await read('?range=7d&sourceId=web')).toEqual([['web', 'blocked', 7]]);
  await deleteOldIdentityCounts(pool);
  const { rows } = await pool.query('select count from identity_counts where account_id = $1 order by hour', [
    client.accountId,
  ]);
  expect(rows).toHaveLength(3);
  await pool.end();
  const other = await plane.newAccount();
  expect((await other.get('/identity-counts')).body.entities).toEqual([]);
  expect((await client.get('/identity-counts?range=1y')).status).toBe(400);
});
