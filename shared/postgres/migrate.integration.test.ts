import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase } from '../testing/servers.ts';
import type { TestDatabase } from '../testing/servers.ts';
import { migrate } from './migrate.ts';
import { migrationList } from './migrations/migration-list.ts';
import { openStorage } from './open-storage.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const select = async (sql: string): Promise<Record<string, unknown>[]> => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<Record<string, unknown>>(sql);
  await client.end();
  return rows;
};

test('migrate: migrators at once apply each migration once, and a later one nothing', async () => {
  await Promise.all([1, 2, 3, 4].map(() => migrate(database.url)));
  await migrate(database.url);
  const names = (await select('select name from migrations order by id')).map(({ name }) => name);
  expect(names).toEqual(migrationList.map(({ name }) => name));
});

test('migrate: every migration can be taken back', async () => {
  await migrate(database.url);
  const storage = await openStorage({ databaseUrl: database.url, connectionsMax: 3 });
  await storage.orm.getMigrator().down({ to: 0 });
  await storage.close();
  const tables = await select(`select tablename from pg_tables where schemaname = 'public'`);
  expect(tables).toEqual([{ tablename: 'migrations' }]);
  await migrate(database.url);
});

test('migrate: what the pipeline relies on is there', async () => {
  await migrate(database.url);
  const columns = await select(
    `select table_name, column_name from information_schema.columns
     where table_name in ('visitors', 'visitor_identities') order by table_name, column_name`,
  );
  const named = columns.map((row) => `${String(row['table_name'])}.${String(row['column_name'])}`);
  expect(named).toEqual(
    expect.arrayContaining(['visitors.merged_into', 'visitors.erased_at', 'visitor_identities.visitor_id']),
  );
});
