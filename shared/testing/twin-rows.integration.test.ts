import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../postgres/migrate.ts';
import { createTestDatabase } from './servers.ts';
import type { TestDatabase } from './servers.ts';
import { accountTables } from './state-of-account.ts';
import { openTestPool } from './test-pool.ts';
import { twinMark, twinOf } from './twin-rows.ts';

let database: TestDatabase;
let pool: Pool;
const [account, erasure] = [randomUUID(), randomUUID()];

beforeAll(async () => {
  database = await createTestDatabase();
  await migrate(database.url);
  pool = openTestPool(database.url, 2);
  await pool.query(`insert into violations values
    ('${account}', date_trunc('hour', now()), 'r', 'E', 's', '', 'Report', 'Info', 1, now(), now(), 'string')`);
  await pool.query(
    `insert into identity_counts values ('${account}', date_trunc('hour', now()), 's', 'blocked', 1, now())`,
  );
  await pool.query(`insert into source_secrets values ('${account}', 's', 'enc:v1:x', now())`);
  await pool.query(`insert into account_keys values ('${account}', 'kid', '{}', 'enc:v1:x', now())`);
  await pool.query(
    `insert into erasure_records
        (id, account_id, requested_at, erased_at, actor_id, actor_name, suppressed, counts, due_at, subject)
      values ($1, $2, now(), now(), $2, 'key', false, '{}', now() + interval '1 day', 'enc:v1:x')`,
    [erasure, account],
  );
  await pool.query(
    `insert into erasure_destinations (erasure_id, account_id, destination_id, type, name, state, next_attempt_at)
      values ($1, $2, 'd', 'HTTPDestination', 'Hooks', 'pending', now())`,
    [erasure, account],
  );
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

/** Tables that refer to `accounts`, whose rows have no twins. */
const withoutTwins = [
  'api_keys',
  'approvals',
  'audit_entries',
  'entities',
  'outbox',
  'publications',
  'published_destinations',
  'saved_views',
  'sessions',
  'sign_in_links',
  'source_keys',
  'users',
  'versions',
];

test('twins: every table whose rows belong to an account has twin rows, except tables that refer to accounts', async () => {
  const { rows } = await pool.query<{ name: string }>(
    `select tgrelid::regclass::text as name from pg_trigger where tgname = 'twin_add'`,
  );
  const having = rows.map(({ name }) => name);
  expect((await accountTables(pool)).filter((name) => !having.includes(name))).toEqual(withoutTwins);
});

/** Each statement changes one row if a condition on the account is added. */
const statements = [
  `update violations set count = count + 1 where rule = 'r'`,
  `delete from violations where hour >= now() - interval '8 days'`,
  `update identity_counts set count = count + 1 where source_id = 's'`,
  `delete from identity_counts where reason = 'blocked'`,
  `update source_secrets set sealed = 'enc:v1:y' where source_id = 's'`,
  `delete from source_secrets where source_id = 's'`,
  `update account_keys set private_key = 'enc:v1:y' where kid = 'kid'`,
  `update erasure_records set subject = null where subject is not null`,
  `update erasure_destinations set state = 'pending' where destination_id = 'd'`,
  `delete from erasure_destinations where destination_id = 'd'`,
];

test.each(statements)('twins: a statement that leaves the account out fails: %s', async (sql) => {
  await expect(pool.query(sql)).rejects.toThrow('twin: a statement changes rows of another account');
  const session = await pool.connect();
  try {
    await session.query('begin');
    const { rowCount } = await session.query(`${sql} and account_id = $1`, [account]);
    expect(rowCount).toBe(1);
  } finally {
    await session.query('rollback');
    session.release();
  }
});

test('twins: a statement that deletes rows of all accounts by their age is no fault', async () => {
  await pool.query(`insert into violations
    values ('${account}', now() - interval '9 days', 'r', 'E', 's', '', 'Report', 'Info', 1, now(), now(), 'string')`);
  const { rowCount } = await pool.query(`delete from violations where hour < now() - interval '8 days'`);
  expect(rowCount).toBe(2);
});

test('twins: the twin has the same rows, with the mark in its texts and sealed texts, and nothing that is due', async () => {
  const { rows } = await pool.query(
    `select v.rule, v.sample, s.sealed, k.kid, r.actor_name, r.subject, d.destination_id, d.state, d.next_attempt_at
      from violations v
      join source_secrets s using (account_id) join account_keys k using (account_id)
      join erasure_records r using (account_id) join erasure_destinations d using (account_id)
      where v.account_id = $1`,
    [twinOf(account)],
  );
  expect(rows).toEqual([
    {
      rule: 'r',
      sample: `string${twinMark}`,
      sealed: expect.stringMatching(`^${twinMark}enc:v1:`),
      kid: 'kid',
      actor_name: `key${twinMark}`,
      subject: `${twinMark}enc:v1:x`,
      destination_id: 'd',
      state: 'done',
      next_attempt_at: null,
    },
  ]);
});
