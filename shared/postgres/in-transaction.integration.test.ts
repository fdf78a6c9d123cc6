import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase } from '../testing/servers.ts';
import type { TestDatabase } from '../testing/servers.ts';
import { inTransaction } from './in-transaction.ts';

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = new pg.Pool({ connectionString: database.url, max: 2 });
  pool.on('error', () => undefined);
  await pool.query('create table kept (n int)');
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const kept = async (): Promise<number> => (await pool.query('select 1 from kept')).rowCount ?? 0;

test('in transaction: all changes are kept, or none if the work throws', async () => {
  expect(
    await inTransaction(pool, async (client) => (await client.query('insert into kept values (1)')).rowCount),
  ).toBe(1);
  const failing = inTransaction(pool, async (client) => {
    await client.query('insert into kept values (2)');
    throw new Error('changed my mind');
  });
  await expect(failing).rejects.toThrow('changed my mind');
  expect(await kept()).toBe(1);
});

test('in transaction: a connection that breaks between two statements is a failure, not the end of the process', async () => {
  const broken = inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    await pool.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
    await expect
      .poll(async () => (await pool.query('select 1 from pg_stat_activity where pid = $1', [rows[0]?.pid])).rowCount)
      .toBe(0);
    await client.query('insert into kept values (3)');
  });
  await expect(broken).rejects.toThrow(/terminat|not queryable/);
  expect(await kept()).toBe(1);
  expect(pool.totalCount).toBeLessThanOrEqual(2);
});
