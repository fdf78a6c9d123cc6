import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countOtherSessions } from '../testing/database-sessions.ts';
import { createTestDatabase } from '../testing/servers.ts';
import type { TestDatabase } from '../testing/servers.ts';
import { createVisitorPool } from '../visitors/visitor-pool.ts';
import { isPassingFailure } from './database-failure.ts';
import { openStorage } from './open-storage.ts';

let database: TestDatabase;
/** A session that can write even while `setReadOnly` makes new sessions read-only. */
let admin: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  admin = new pg.Client({ connectionString: database.url, options: '-c default_transaction_read_only=off' });
  await admin.connect();
  await admin.query('create table kept (n int)');
});
afterAll(async () => {
  await admin.end();
  await database.drop();
});

/** Makes new sessions read-only, like those of a standby before its promotion, or writable again. */
async function setReadOnly(state: 'on' | 'off'): Promise<void> {
  const { rows } = await admin.query<{ name: string }>('select quote_ident(current_database()) as name');
  await admin.query(`alter database ${rows[0]?.name} set default_transaction_read_only = ${state}`);
}

const otherSessions = (): Promise<number> => countOtherSessions(admin);

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

const ways = {
  async pool() {
    const pool = createVisitorPool({
      databaseUrl: database.url,
      connectionsMax: 2,
      name: 'test',
      onIdleError: () => undefined,
    });
    return { ask: (sql: string) => pool.query(sql), end: () => pool.end() };
  },
  async storage() {
    const storage = await openStorage({ databaseUrl: database.url, connectionsMax: 2 });
    return { ask: (sql: string) => storage.fork().execute(sql), end: () => storage.close() };
  },
};

test.each(Object.entries(ways))(
  'a server that takes no writes: a %s keeps no session with it, and goes on once it does',
  async (_name, open) => {
    const { ask, end } = await open();
    try {
      await setReadOnly('on');
      for (let round = 0; round < 3; round += 1) {
        const failure = await failureOf(ask('select 1'));
        expect(failure).toMatchObject({ code: '25006' });
        expect(isPassingFailure(failure)).toBe(true);
      }
      await expect.poll(otherSessions).toBe(0);
      await setReadOnly('off');
      expect(await failureOf(ask('insert into kept values (1)'))).toBeUndefined();
    } finally {
      await setReadOnly('off');
      await end();
    }
  },
);
