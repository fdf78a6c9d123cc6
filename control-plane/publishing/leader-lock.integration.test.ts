import pg from 'pg';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { countOtherSessions } from '../../shared/testing/database-sessions.ts';
import { createTestDatabase } from '../../shared/testing/servers.ts';
import { competeForLeadership } from './leader-lock.ts';

test('leadership: nobody leads on a server that takes no writes, nor leaves sessions with it', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const admin = new pg.Client({ connectionString: database.url, options: '-c default_transaction_read_only=off' });
  await admin.connect();
  onTestFinished(() => admin.end());
  const { rows } = await admin.query<{ name: string }>('select quote_ident(current_database()) as name');
  const setReadOnly = (state: string): Promise<unknown> =>
    admin.query(`alter database ${rows[0]?.name} set default_transaction_read_only = ${state}`);
  const sessions = (): Promise<number> => countOtherSessions(admin, 'sluice publisher');

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
