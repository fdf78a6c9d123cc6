import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../postgres/migrate.ts';
import { createTestDatabase } from '../testing/servers.ts';
import type { TestDatabase } from '../testing/servers.ts';
import { openTestPool } from '../testing/test-pool.ts';
import { createVisitorStore } from './postgres-visitor-store.ts';
import type { VisitorClaim } from './visitor-identity.ts';
import type { KeyTrust, VisitorTouch } from './visitor-store.ts';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  await migrate(database.url);
  pool = openTestPool(database.url, 5);
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

const dayMs = 86_400_000;
const receivedAtMs = 1_800_000_000_000;

/** An event that is received now, with its own time `said`. */
function touch(
  accountId: string,
  claim: Partial<VisitorClaim>,
  { said, given = {}, sentWith = 'server' }: { said: number; given?: object; sentWith?: KeyTrust },
): VisitorTouch {
  return {
    accountId,
    claim: { userId: undefined, externalIds: [], emails: [], anonymousId: undefined, ...claim },
    receivedAtMs,
    saidAtMs: receivedAtMs - dayMs + said,
    given: [{ ...given }],
    sentWith,
  };
}

async function rowsOf(account: string) {
  const { rows } = await pool.query<{ id: string; version: number; properties: object; times: string | null }>(
    'select id, version, properties, property_times as times from visitors where account_id = $1 order by id',
    [account],
  );
  return rows;
}

test('property times: an older event that arrives late overwrites nothing, also in another store and after a restart', async () => {
  const account = randomUUID();
  const ana = { userId: 'u', externalIds: ['ana'] };
  const first = createVisitorStore(pool);
  const given = { plan: 'pro', city: null, custom_properties: { seats: 5 }, consent: { ads: false } };
  await first.resolve([touch(account, ana, { said: 100, given })]);
  // Late values, such as those of an import or an offline phone.
  const late = {
    plan: 'free',
    city: 'Oslo',
    zip: '1',
    custom_properties: { seats: 1, team: 'a' },
    consent: { ads: true },
  };
  const expected = {
    external_id: 'ana',
    plan: 'pro',
    zip: '1',
    custom_properties: { seats: 5, team: 'a' },
    consent: { ads: false },
  };
  for (const store of [first, createVisitorStore(pool), createVisitorStore(pool)]) {
    const { outcomes } = await store.resolve([touch(account, ana, { said: 50, given: late })]);
    expect(outcomes[0]).toMatchObject({ kind: 'resolved' });
    expect((await store.find(account, { externalId: 'ana' }))?.properties).toEqual(expected);
  }
  await first.resolve([touch(account, ana, { said: 101, given: { plan: 'team', city: 'Rome' } })]);
  expect((await first.find(account, { externalId: 'ana' }))?.properties).toMatchObject({ plan: 'team', city: 'Rome' });
});

test('property times: a grant that is older than a repeated refusal does not undo the refusal, and repetitions within an hour are not written', async () => {
  const account = randomUUID();
  const ana = { externalIds: ['ana'] };
  const hourMs = 3_600_000;
  const store = createVisitorStore(pool);
  const say = (said: number, ads: unknown) =>
    store.resolve([touch(account, ana, { said, given: { consent: { ads } } })]);
  await say(0, false);
  const [before] = await rowsOf(account);
  await say(hourMs - 1, false);
  expect(await rowsOf(account)).toEqual([before]);
  await say(2 * hourMs, false);
  for (const of of [store, createVisitorStore(pool)]) {
    await of.resolve([touch(account, ana, { said: hourMs, given: { consent: { ads: true } } })]);
    expect((await of.find(account, { externalId: 'ana' }))?.properties).toMatchObject({ consent: { ads: false } });
  }
  await say(2 * hourMs + 1, true);
  expect((await store.find(account, { externalId: 'ana' }))?.properties).toMatchObject({ consent: { ads: true } });
});

test('property times: a visitor stored by an earlier version has no times, and any new value wins', async () => {
  const account = randomUUID();
  const store = createVisitorStore(pool);
  await pool.query(
    `insert into visitors (account_id, id, properties) values ($1, 'u', '{"city": "Oslo", "zip": "1"}')`,
    [account],
  );
  await store.resolve([touch(account, { userId: 'u' }, { said: 1, given: { city: 'Rome' } })]);
  const [row] = await rowsOf(account);
  expect(row?.properties).toEqual({ city: 'Rome', zip: '1' });
  expect(row?.times).toBe(`[0,[${receivedAtMs - dayMs + 1},"0city"]]`);
});

test('property times: a merge decides each property by its own time; a clear that is newer than the other visitor’s value removes it', async () => {
  const account = randomUUID();
  const store = createVisitorStore(pool);
  await store.resolve([
    touch(account, { externalIds: ['ana'] }, { said: 5, given: { city: 'Oslo', zip: '1', plan: 'pro' } }),
  ]);
  await store.resolve([touch(account, { userId: 'phone' }, { said: 9, given: { city: 'Rome', plan: null } })]);
  await store.resolve([touch(account, { userId: 'phone' }, { said: 3, given: { zip: '0', email: 'a@b.c' } })]);
  await store.resolve([touch(account, { userId: 'phone', externalIds: ['ana'] }, { said: 10 })]);
  const found = await store.find(account, { externalId: 'ana' });
  expect(found?.aliases).toHaveLength(1);
  expect(found?.properties).toMatchObject({ city: 'Rome', zip: '1', email: 'a@b.c' });
  expect(found?.properties).not.toHaveProperty('plan');
});

test('property times: a server’s value stays over a public one, whichever has the earlier time or arrives first', async () => {
  for (const order of [0, 1]) {
    const account = randomUUID();
    const store = createVisitorStore(pool);
    const events = [
      touch(account, { externalIds: ['ana'] }, { said: 3, given: { phone_number: 'server' } }),
      touch(account, { externalIds: ['ana'] }, { said: 5, given: { phone_number: 'public' }, sentWith: 'public' }),
    ];
    for (const event of order === 0 ? events : events.toReversed()) await store.resolve([event]);
    expect((await store.find(account, { externalId: 'ana' }))?.properties['phone_number']).toBe('server');
  }
});

test('property times: known visitors who bring nothing new are not written, and times take few bytes', async () => {
  const account = randomUUID();
  const store = createVisitorStore(pool);
  const visitors = 50;
  const profile = (n: number) => ({
    email: `user-${n}@example.com`,
    first_name: 'Ada',
    city: 'Oslo',
    phone_number: null,
    custom_properties: { plan: 'pro', seats: n },
    consent: { ads: true },
  });
  const all = (said: number): VisitorTouch[] =>
    Array.from({ length: visitors }, (_, n) =>
      touch(account, { userId: `u-${n}`, emails: [`user-${n}@example.com`] }, { said, given: profile(n) }),
    );
  await store.resolve(all(10));
  const before = await rowsOf(account);
  // Resolves the same events, including their clears, with newer times, with older times, and with a fresh cache.
  for (const [said, by] of [
    [20, store],
    [5, store],
    [30, createVisitorStore(pool)],
  ] as const) {
    const { updated, created } = await by.resolve(all(said));
    expect({ updated, created }).toEqual({ updated: 0, created: 0 });
  }
  expect(await rowsOf(account)).toEqual(before);
  const [size] = (
    await pool.query<{ times: number; properties: number }>(
      `select avg(pg_column_size(property_times))::int as times, avg(pg_column_size(properties))::int as properties
        from visitors where account_id = $1`,
      [account],
    )
  ).rows;
  // The base and the cleared phone number are stored; the properties take over 150 bytes.
  expect(size?.times).toBeLessThanOrEqual(48);
  expect(size?.properties).toBeGreaterThan(150);
});
