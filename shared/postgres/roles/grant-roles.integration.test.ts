import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../testing/servers.ts';
import type { TestDatabase } from '../../testing/servers.ts';
import { migrate } from '../migrate.ts';
import { migrationList } from '../migrations/migration-list.ts';
import { RoleError } from './grant-roles.ts';
import { serviceRights } from './service-roles.ts';
import type { DatabaseService } from './service-roles.ts';

let database: TestDatabase;
let urls: Readonly<Record<DatabaseService, string>>;

beforeAll(async () => {
  database = await createTestDatabase({ isMigrated: false });
  urls = await database.migrateWithRoles();
});
afterAll(() => database.drop());

async function run(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

const forbidden: readonly [service: DatabaseService, what: string, sql: string][] = [
  ['pipeline', 'read API keys', 'select * from api_keys'],
  ['pipeline', 'read keys of sources', 'select * from source_keys'],
  ['pipeline', 'read settings', 'select * from entities'],
  ['pipeline', 'publish', 'insert into outbox (account_id, created_at) values (gen_random_uuid(), now())'],
  ['pipeline', 'erase a visitor', 'delete from visitors'],
  ['pipeline', 'make the log that of another deployment', 'update deployment set id = gen_random_uuid()'],
  ['pipeline', 'make a table', 'create table mine (id int)'],
  ['pipeline', 'change a table', 'alter table visitors add column mine int'],
  ['pipeline', 'drop a table', 'drop table recent_events'],
  ['pipeline', 'make a role', 'create role mine'],
  ['controlPlane', 'change what was audited', `update audit_entries set account_id = gen_random_uuid()`],
  ['controlPlane', 'delete what was audited', 'delete from audit_entries'],
  [
    'controlPlane',
    'make a visitor',
    'insert into visitors (account_id, id, properties) values (gen_random_uuid(), gen_random_uuid(), null)',
  ],
  ['controlPlane', 'empty a table', 'truncate entities'],
  ['controlPlane', 'make a table', 'create table mine (id int)'],
  ['controlPlane', 'say that a migration was applied', `insert into migrations (name) values ('mine')`],
];

test.each(forbidden)('roles: %s may not %s', async (service, _what, sql) => {
  await expect(run(urls[service], sql)).rejects.toMatchObject({ code: '42501' });
});

test('roles: the rights of the services name every table of the schema, and no other table', async () => {
  const tables = await run(
    database.url,
    `select tablename as name from pg_tables where schemaname = 'public' order by 1`,
  );
  const named = new Set(Object.values(serviceRights).flatMap((rights) => Object.keys(rights)));
  expect([...named].toSorted()).toEqual(tables.map(({ name }) => name));
});

test('roles: a service reads its tables and takes numbers from its sequences', async () => {
  expect(await run(urls.pipeline, 'select * from deployment')).toHaveLength(1);
  expect(await run(urls.controlPlane, `select nextval('outbox_id_seq') > 0 as isNumbered`)).toHaveLength(1);
});

test('roles: the next migration revokes rights of a role that its service does not have', async () => {
  const { username } = new URL(urls.pipeline);
  await run(database.url, `grant select on api_keys to "${username}"`);
  expect(await run(urls.pipeline, 'select * from api_keys')).toEqual([]);
  const roles = [{ service: 'pipeline', name: username }] as const;
  expect(await migrate(database.url, undefined, migrationList, roles)).toEqual([username]);
  await expect(run(urls.pipeline, 'select * from api_keys')).rejects.toMatchObject({ code: '42501' });
  // Without a password in `roles`, the role still logs in as before.
  expect(await run(urls.pipeline, 'select * from deployment')).toHaveLength(1);
});

test('roles: a migration with another password changes the password of the role', async () => {
  const url = new URL(urls.pipeline);
  const roles = [{ service: 'pipeline', name: url.username, password: 'pä ss"wörd' }] as const;
  await migrate(database.url, undefined, migrationList, roles);
  await expect(run(urls.pipeline, 'select 1')).rejects.toMatchObject({ code: '28P01' });
  url.password = encodeURIComponent('pä ss"wörd');
  expect(await run(url.href, 'select * from deployment')).toHaveLength(1);
});

test('roles: with nothing to migrate, a service may run the migration as its own role, and keeps its rights', async () => {
  const roles = [{ service: 'controlPlane', name: new URL(urls.controlPlane).username }] as const;
  expect(await migrate(urls.controlPlane, undefined, migrationList, roles)).toEqual([]);
  expect(await run(urls.controlPlane, 'select * from accounts')).toEqual([]);
});

test('roles: names of roles that do not exist are skipped', async () => {
  const roles = [{ service: 'pipeline', name: 'nobody_of_that_name' }] as const;
  expect(await migrate(database.url, undefined, migrationList, roles)).toEqual([]);
});

test('roles: an account that may not create roles gets an error with advice', async () => {
  const roles = [{ service: 'pipeline', name: 'a_new_role', password: 'password' }] as const;
  const failed = migrate(urls.controlPlane, undefined, migrationList, roles);
  await expect(failed).rejects.toThrow(RoleError);
  await expect(failed).rejects.toThrow(/Create the role a_new_role by hand/);
  const owner = [{ service: 'pipeline', name: new URL(database.url).username, password: 'password' }] as const;
  await expect(migrate(database.url, undefined, migrationList, owner)).rejects.toThrow(/Migrate as the owner/);
});
