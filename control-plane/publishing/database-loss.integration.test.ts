import { afterAll, beforeAll, expect, test } from 'vitest';
import pg from 'pg';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;

beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(() => plane.stop());

/** Ends all sessions of the database except its own. */
async function endSessions(): Promise<void> {
  const client = new pg.Client({ connectionString: plane.databaseUrl });
  await client.connect();
  await client.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  await client.end();
}

test('after the database ends all sessions, the database is used again at once, and a leader is elected again', async () => {
  const client = await plane.newAccount();
  await client.publish();
  for (let round = 0; round < 3; round += 1) {
    await endSessions();
    // A request during the loss may get a 503, but no other error.
    await expect
      .poll(async () => {
        const { status } = await client.post('/sources', { type: 'NodejsApi' });
        if (status !== 200) expect(status).toBe(503);
        return status;
      })
      .toBe(200);
    const { versionNumber } = await client.publish();
    expect(versionNumber).toBe(round + 2);
  }
  await expect
    .poll(async () => plane.storage.fork().execute('select 1 from outbox where pushed_at is null'), { timeout: 45_000 })
    .toEqual([]);
});
