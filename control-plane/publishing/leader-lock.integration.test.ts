import pg from 'pg';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { countOtherSessions } from '../../shared/testing/database-sessions.ts';
import { createTestDatabase } from '../../shared/testing/servers.ts';
import type { TestDatabase } from '../../shared/testing/servers.ts';
import { openSilentProxy } from '../../shared/testing/silent-proxy.ts';
import { competeForLeadership, leaderSession } from './leader-lock.ts';
import type { LeaderLock } from './leader-lock.ts';

test('leadership: there is no leader on a read-only server, and no session stays open on it', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const admin = new pg.Client({ connectionString: database.url, options: '-c default_transaction_read_only=off' });
  await admin.connect();
  onTestFinished(() => admin.end());
  const { rows } = await admin.query<{ name: string }>('select quote_ident(current_database()) as name');
  const setReadOnly = (state: string): Promise<unknown> =>
    admin.query(`alter database ${rows[0]?.name} set default_transaction_read_only = ${state}`);
  const sessions = (): Promise<number> => countOtherSessions(admin, leaderSession);

  await setReadOnly('on');
  let failures = 0;
  const logger = pino({ level: 'debug' }, { write: () => void (failures += 1) });
  const lock = competeForLeadership({ databaseUrl: database.url, logger, onWake: () => undefined });
  onTestFinished(() => lock.stop());
  await expect.poll(() => failures, { timeout: 20_000 }).toBeGreaterThan(1);
  expect(lock.leading).toBe(false);
  expect(await sessions()).toBeLessThanOrEqual(1);
  await setReadOnly('off');
  await expect.poll(() => lock.leading, { timeout: 20_000 }).toBe(true);
});

/** Two locks that compete. Each adds its name to `led` when it becomes the leader. */
async function compete(database: TestDatabase, firstUrl = database.url) {
  const led: string[] = [];
  const start = (name: string, databaseUrl: string): LeaderLock => {
    let lock: LeaderLock | undefined = undefined;
    const onWake = (): void => {
      if (lock?.leading === true) led.push(name);
    };
    lock = competeForLeadership({ databaseUrl, logger: pino({ level: 'silent' }), onWake });
    onTestFinished(() => lock.stop());
    return lock;
  };
  const first = start('first', firstUrl);
  await expect.poll(() => first.leading).toBe(true);
  const second = start('second', database.url);
  return { first, second, led };
}
const leaders = (...locks: readonly LeaderLock[]): number => locks.filter(({ leading }) => leading).length;

test('leadership: a leader whose session is ended by the database stops leading, and exactly one leader follows', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  onTestFinished(() => admin.end());
  const { first, second, led } = await compete(database);
  await expect.poll(() => countOtherSessions(admin, leaderSession)).toBe(2);
  for (let round = 1; round <= 3; round += 1) {
    const before = led.length;
    await admin.query(`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'
      and database = (select oid from pg_database where datname = current_database())`);
    await expect.poll(() => led.length).toBeGreaterThan(before);
    await expect.poll(() => leaders(first, second)).toBe(1);
  }
});

test('leadership: a leader whose connection silently breaks stops leading', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const proxy = await openSilentProxy(database.url);
  onTestFinished(() => proxy.close());
  const { first, second } = await compete(database, proxy.url);
  expect([first.leading, second.leading]).toEqual([true, false]);
  proxy.fallSilent();
  await expect.poll(() => first.leading).toBe(false);
});
