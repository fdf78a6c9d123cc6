import { randomUUID } from 'node:crypto';
import { Migration } from '@mikro-orm/migrations';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createVisitorPool } from '../visitors/visitor-pool.ts';
import { createTestDatabase } from '../testing/servers.ts';
import type { TestDatabase } from '../testing/servers.ts';
import { openTestPool } from '../testing/test-pool.ts';
import { migrate } from './migrate.ts';
import { migrationList } from './migrations/migration-list.ts';
import { openStorage } from './open-storage.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase({ isMigrated: false });
});
afterAll(() => database.drop());

const select = async (sql: string): Promise<Record<string, unknown>[]> => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<Record<string, unknown>>(sql);
  await client.end();
  return rows;
};

test('migrate: concurrent migrators apply each migration once, and a later one applies none', async () => {
  await Promise.all([1, 2, 3, 4].map(() => migrate(database.url)));
  await migrate(database.url);
  const names = (await select('select name from migrations order by id')).map(({ name }) => name);
  expect(names).toEqual(migrationList.map(({ name }) => name));
});

test('migrate: every migration can be taken back', async () => {
  await migrate(database.url);
  const storage = await openStorage({ databaseUrl: database.url, connectionsMax: 3 });
  // One at a time, as `migrate` applies them: a migration without a transaction would wait for the locks of the others.
  for (const { name } of migrationList.toReversed()) await storage.orm.getMigrator().down({ migrations: [name] });
  await storage.close();
  const tables = await select(`select tablename from pg_tables where schemaname = 'public'`);
  expect(tables).toEqual([{ tablename: 'migrations' }]);
  await migrate(database.url);
});

test('migrate: searches of the log by visitor that were recorded before get the keyed hash, other entries stay as they are', async () => {
  await migrate(database.url);
  const storage = await openStorage({ databaseUrl: database.url, connectionsMax: 3 });
  await storage.orm.getMigrator().down({ migrations: ['0037-key-searched-visitors'] });
  await storage.close();
  const hash = 'ab'.repeat(32);
  await select(`with account as (
      insert into accounts (id, name, created_at) values (gen_random_uuid(), 'test', now()) returning id)
    insert into audit_entries (account_id, actor_id, actor_name, action, entity_id)
    select account.id, 'key', 'test', action, '${hash}' from account, unnest(array['event.search', 'event.read']) action`);
  await migrate(database.url);
  const entries = await select(`select action, entity_id = encode(erasure_hash_of('${hash}'), 'hex') as keyed,
    entity_id = '${hash}' as unkeyed from audit_entries order by action`);
  expect(entries).toEqual([
    { action: 'event.read', keyed: false, unkeyed: true },
    { action: 'event.search', keyed: true, unkeyed: false },
  ]);
});

test('migrate: the tables of visitors have columns that the pipeline uses', async () => {
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

/** Records the timeouts of the session that migrates. */
class NoteLimits extends Migration {
  override up(): void {
    this.addSql(`create table observed as select current_setting('statement_timeout') as statement,
      current_setting('lock_timeout') as lock, current_setting('idle_in_transaction_session_timeout') as idle`);
  }
}

class IndexConcurrently extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql('create index concurrently if not exists observed_lock on observed (lock)');
  }
}

test('migrate: a migration has no time limit, and an index is created concurrently while other migrators wait', async () => {
  const list = [
    ...migrationList,
    { name: '9001-note-limits', class: NoteLimits },
    { name: '9002-index-concurrently', class: IndexConcurrently },
  ];
  await Promise.all([1, 2, 3].map(() => migrate(database.url, undefined, list)));
  expect(await select('select * from observed')).toEqual([{ statement: '0', lock: '0', idle: '0' }]);
  expect(await select(`select indisvalid from pg_index where indexrelid = 'observed_lock'::regclass`)).toEqual([
    { indisvalid: true },
  ]);
});

test('sessions: every pool limits the time of a statement, of a wait for a lock, and of an idle transaction', async () => {
  const sql = `select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
    current_setting('idle_in_transaction_session_timeout') as idle`;
  const databaseTimeouts = { statementMs: 7_000, lockMs: 1_500, idleInTransactionMs: 9_000 };
  const access = { databaseUrl: database.url, connectionsMax: 1, databaseTimeouts };
  const storage = await openStorage(access);
  const pool = createVisitorPool({ ...access, name: 'test', onIdleError: () => undefined });
  const found = [await storage.fork().execute(sql), (await pool.query(sql)).rows];
  await Promise.all([storage.close(), pool.end()]);
  const expected = [{ statement: '7s', lock: '1500ms', idle: '9s' }];
  expect(found).toEqual([expected, expected]);
});

/** Runs `work` on a database that has the migrations before the named one. */
async function atUpgrade(
  before: string,
  work: (pool: pg.Pool, migrateRest: () => Promise<unknown>) => Promise<void>,
): Promise<void> {
  // A migration concerns all accounts.
  const own = await createTestDatabase({ hasTwins: false });
  await migrate(
    own.url,
    undefined,
    migrationList.filter(({ name }) => name < before),
  );
  const pool = openTestPool(own.url, 1);
  try {
    await work(pool, () => migrate(own.url));
  } finally {
    await pool.end();
    await own.drop();
  }
}

test('upgrade: an audit entry that the previous version commits during the migration gets the keyed hash', async () => {
  await atUpgrade('0026', async (pool, migrateRest) => {
    const hash = 'ab'.repeat(32);
    const writer = await pool.connect();
    await writer.query(`begin;
      with account as (insert into accounts (id, name) values (gen_random_uuid(), 'a') returning id)
      insert into audit_entries (account_id, actor_id, actor_name, action, entity_id)
      select id, 'key', 'test', 'visitor.erase', '${hash}' from account`);
    const migrating = migrateRest();
    const waiting = `select from pg_locks where not granted and relation = 'audit_entries'::regclass`;
    try {
      await expect.poll(async () => (await writer.query(waiting)).rowCount, { timeout: 20_000 }).toBe(1);
      await writer.query('commit');
    } finally {
      writer.release(true);
      await migrating;
    }
    const { rows } = await pool.query(
      `select entity_id = encode(erasure_hash_of('${hash}'), 'hex') as keyed from audit_entries`,
    );
    expect(rows).toEqual([{ keyed: true }]);
  });
});

test('upgrade: destinations of published versions are known with the end of their last publication', async () => {
  await atUpgrade('0038', async (pool, migrateRest) => {
    const account = randomUUID();
    await pool.query(`insert into accounts (id, name) values ($1, 'a')`, [account]);
    const insert = async (number: number, isPublished: boolean, ...enabled: string[]): Promise<string> => {
      const id = randomUUID();
      const destinations = ['none', ...enabled].map((name) => ({
        id: name,
        type: 'HTTPDestination',
        ...(name === 'rolled back' ? { name: `${name} ${number}` } : {}),
        status: name === 'none' ? 'Disabled' : 'Enabled',
      }));
      await pool.query(
        `insert into versions (id, account_id, version_number, name, name_folded, content, published_at)
          values ($1, $2, $3, 'v', 'v', $4, case when $5 then timestamptz '2020-01-01' end)`,
        [id, account, number, JSON.stringify({ destinations }), isPublished],
      );
      return id;
    };
    const [first, second, live] = [
      await insert(1, true, 'rolled back', 'twice'),
      await insert(2, true, 'rolled back', 'ended'),
      await insert(3, true, 'twice', 'live'),
    ];
    await insert(4, false, 'draft');
    // Published by a control plane that records no publications.
    await insert(5, true, 'unknown');
    await pool.query('update accounts set live_version_id = $2 where id = $1', [account, live]);
    await pool.query(
      `insert into publications
          (account_id, version_id, version_number, version_name, published_at, ended_at, actor_id, actor_name)
        select $1, id, 1, 'v', '2020-01-01', ended_at, '', '' from (values
          ($2::uuid, timestamptz '2020-01-02Z'), ($3, '2020-01-03Z'), ($2, '2020-01-04Z'), ($4, null)) p (id, ended_at)`,
      [account, first, second, live],
    );
    await migrateRest();
    const read = async (): Promise<unknown> =>
      (
        await pool.query(
          `select destination_id, name, case when disabled_at > '2020-02-01' then 'later'
              else (disabled_at at time zone 'utc')::date::text end as until
            from published_destinations where account_id = $1 order by destination_id`,
          [account],
        )
      ).rows;
    expect(await read()).toEqual([
      { destination_id: 'ended', name: 'HTTPDestination', until: '2020-01-03' },
      { destination_id: 'live', name: 'HTTPDestination', until: null },
      { destination_id: 'rolled back', name: 'rolled back 1', until: '2020-01-04' },
      { destination_id: 'twice', name: 'HTTPDestination', until: null },
      { destination_id: 'unknown', name: 'HTTPDestination', until: 'later' },
    ]);
    // A control plane of the previous version, which still runs, publishes.
    await pool.query('update accounts set live_version_id = $2 where id = $1', [account, second]);
    expect(await read()).toMatchObject([
      { destination_id: 'ended', until: null },
      { destination_id: 'live', until: 'later' },
      { destination_id: 'rolled back', name: 'rolled back 2', until: null },
      { destination_id: 'twice', until: 'later' },
      { destination_id: 'unknown', until: 'later' },
    ]);
  });
});

test('upgrade: identifiers of erased visitors that no destination needs are deleted', async () => {
  await atUpgrade('0038', async (pool, migrateRest) => {
    const account = randomUUID();
    const insert = async (reference: string, ...states: string[]): Promise<void> => {
      const id = randomUUID();
      await pool.query(
        `insert into erasure_records (id, account_id, requested_at, erased_at, actor_id, actor_name, reference,
            suppressed, counts, due_at, subject)
          values ($1, $2, now(), now(), $2, '', $3, false, '{}', '2020-01-01Z', 'sealed')`,
        [id, account, reference],
      );
      await pool.query(
        `insert into erasure_destinations (erasure_id, destination_id, account_id, type, name, state, next_attempt_at)
          select $1, n, $2, 't', 'n', state, case when state = 'pending' then now() end
          from unnest($3::text[]) with ordinality as s (state, n)`,
        [id, account, states],
      );
    };
    await insert('without destinations');
    await insert('settled', 'done', 'nothing', 'requested');
    for (const state of ['pending', 'failed', 'manual']) await insert(state, 'done', state);
    await migrateRest();
    const { rows } = await pool.query(
      'select reference, due_at is not null as "isDue", subject from erasure_records order by reference',
    );
    expect(rows).toEqual([
      { reference: 'failed', isDue: true, subject: 'sealed' },
      { reference: 'manual', isDue: true, subject: 'sealed' },
      { reference: 'pending', isDue: true, subject: 'sealed' },
      { reference: 'settled', isDue: true, subject: null },
      { reference: 'without destinations', isDue: false, subject: null },
    ]);
  });
});

test('upgrade: records of undone merges are emptied, other records stay', async () => {
  await atUpgrade('0038', async (pool, migrateRest) => {
    await pool.query(
      `insert into visitor_merges (account_id, id, survivor, loser, cause, loser_properties, loser_updated_at,
          loser_set_by_server, loser_identities, survivor_properties, survivor_updated_at, survivor_set_by_server,
          merged_properties, undone_at, loser_times, survivor_times, merged_times)
        select gen_random_uuid(), gen_random_uuid(), 's', 'l', '{}', '{"a": "kept"}', now(), 0, '["kept"]',
          '{"a": "kept"}', now(), 0, '{"a": "kept"}', undone_at, 'kept', 'kept', 'kept'
        from (values (null), (now())) u (undone_at)`,
    );
    await migrateRest();
    const { rows } = await pool.query<{ text: string }>(
      'select m::text as text from visitor_merges m order by undone_at is not null',
    );
    expect(rows.map(({ text }) => text.match(/kept/g)?.length)).toEqual([7, undefined]);
  });
});
