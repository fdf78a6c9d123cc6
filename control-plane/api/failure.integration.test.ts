import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../shared/postgres/migrate.ts';
import { openStorage } from '../../shared/postgres/open-storage.ts';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import { createTestDatabase } from '../../shared/testing/servers.ts';
import type { TestDatabase } from '../../shared/testing/servers.ts';
import { failureOf, loggableError } from './failure.ts';

let database: TestDatabase;
let storage: Storage;

beforeAll(async () => {
  database = await createTestDatabase();
  await migrate(database.url);
  storage = await openStorage({ databaseUrl: database.url, connectionsMax: 2 });
});
afterAll(async () => {
  await storage.close();
  await database.drop();
});

const failing = async (sql: string, values: unknown[] = []): Promise<unknown> => {
  try {
    await storage.fork().execute(sql, values);
  } catch (error) {
    return error;
  }
  throw new Error('the query was expected to fail');
};

test('failures: a database failure reveals nothing of the query to the client or in the log', async () => {
  const addAccount = 'insert into accounts (id, name) values (?, ?)';
  const id = '00000000-0000-7000-8000-00000000cafe';
  await storage.fork().execute(addAccount, [id, 'canary']);
  const cases = [
    [await failing(addAccount, [id, 'canary']), 409],
    [await failing('select ?::uuid', ['canary']), 500],
    [await failing('select * from nothing where name = ?', ['canary']), 500],
    [await failing(`set statement_timeout = 1; select pg_sleep(1), 'canary'`), 503],
  ] as const;
  for (const [error, status] of cases) {
    const failure = failureOf(error);
    expect(failure.status).toBe(status);
    expect(failure.message).not.toMatch(/canary|cafe|select|insert/i);
    const logged = loggableError(failure.cause);
    expect(JSON.stringify(logged)).not.toMatch(/canary|cafe/);
    expect(logged).toMatchObject({ code: expect.any(String), stack: expect.stringMatching(/at /) });
  }
});

test('failures: a bug keeps its message in the log and is the same 500 for every client', () => {
  const failure = failureOf(new TypeError('x is not a function'));
  expect([failure.status, failure.message]).toEqual([500, 'internal server error']);
  expect(loggableError(failure.cause)).toMatchObject({ type: 'TypeError', message: 'x is not a function' });
  expect(failureOf('thrown text').status).toBe(500);
});
