import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../postgres/migrate.ts';
import { createTestDatabase } from '../testing/servers.ts';
import type { TestDatabase } from '../testing/servers.ts';
import { openTestPool } from '../testing/test-pool.ts';
import { eraseFor } from '../testing/visitors.ts';
import { insertMerges, listMerges, recordsMax } from './merge-records.ts';
import { createVisitorStore } from './postgres-visitor-store.ts';
import type { VisitorClaim } from './visitor-identity.ts';
import { VisitorProperties } from './visitor-properties.ts';
import type { VisitorTouch } from './visitor-store.ts';

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

const event = { id: 'e1', sourceId: 'web' };

function touch(accountId: string, claim: Partial<VisitorClaim>, ...given: VisitorTouch['given']): VisitorTouch {
  return {
    accountId,
    claim: { userId: undefined, externalIds: [], emails: [], anonymousId: undefined, ...claim },
    receivedAtMs: Date.now(),
    given,
    sentWith: 'server',
    event,
  };
}

const recordsOf = (account: string, ids: readonly string[]) =>
  listMerges(pool, account, ids, { before: undefined, limit: 1_000 });

test('merge records: merges by sign-in and by alias are recorded with both visitors’ previous states, in their own account only', async () => {
  const store = createVisitorStore(pool);
  const [account, other] = [randomUUID(), randomUUID()];
  const batches = (id: string) => [
    [touch(id, { userId: 'p', externalIds: ['x'] }, { city: 'Bern', zip: '1' })],
    [touch(id, { userId: 'd', emails: ['d@example.com'] }, { email: 'd@example.com', city: 'Oslo' })],
    // The large number shows that PostgreSQL copied it: JavaScript would round it.
    [],
    [touch(id, { userId: 'd', externalIds: ['x'] })],
    [touch(id, { externalIds: ['y'] }, { city: 'Rome' })],
    [touch(id, { externalIds: ['y', 'x'], isAlias: true })],
  ];
  for (const touches of batches(account)) {
    if (touches.length > 0) await store.resolve(touches);
    else {
      await pool.query(
        `update visitors set properties = properties || '{"n": 12345678901234567890.10}', version = version + 1
          where account_id = $1 and id = 'd'`,
        [account],
      );
    }
  }
  await store.resolve([touch(other, { userId: 'd' }), touch(other, { userId: 'p', externalIds: ['x'] })]);
  expect(await recordsOf(other, ['d', 'p'])).toEqual([]);
  const [alias, signIn, ...more] = await recordsOf(account, ['p']);
  expect(more).toEqual([]);
  expect(signIn).toMatchObject({
    survivor: 'p',
    loser: 'd',
    cause: { kind: 'signIn', identifier: 'externalId', eventId: 'e1', sourceId: 'web' },
    overwritten: ['city'],
    undone_at: null,
  });
  expect(alias).toMatchObject({ survivor: 'p', cause: { kind: 'alias' }, loser_properties: { city: 'Rome' } });
  const { rows } = await pool.query<{ text: string; identities: unknown }>(
    `select loser_properties::text as text, loser_identities as identities from visitor_merges
      where account_id = $1 and loser = 'd'`,
    [account],
  );
  expect(rows[0]?.text).toContain('12345678901234567890.10');
  expect(rows[0]?.identities).toEqual([{ kind: 'email', value: 'd@example.com' }]);
});

test('merge records: changes that a batch makes before a merge belong to the recorded states, and a new device is no merge', async () => {
  const store = createVisitorStore(pool);
  const account = randomUUID();
  await store.resolve([touch(account, { userId: 'a', externalIds: ['x'] }, { city: 'Bern' })]);
  const { merged } = await store.resolve([
    touch(account, { userId: 'new', externalIds: ['x'] }),
    touch(account, { userId: 'd', emails: ['d@example.com'] }, { email: 'd@example.com' }),
    touch(account, { externalIds: ['x'] }, { zip: '1' }),
    touch(account, { userId: 'd', externalIds: ['x'] }, { zip: '2' }),
  ]);
  expect(merged).toBe(2);
  const { rows } = await pool.query(
    `select survivor, loser, loser_properties, loser_identities, survivor_properties from visitor_merges
      where account_id = $1`,
    [account],
  );
  expect(rows).toEqual([
    {
      survivor: 'a',
      loser: 'd',
      loser_properties: { email: 'd@example.com' },
      loser_identities: [{ kind: 'email', value: 'd@example.com' }],
      survivor_properties: { city: 'Bern', external_id: 'x', zip: '1' },
    },
  ]);
  expect(await store.find(account, { email: 'd@example.com' })).toMatchObject({ id: 'a', aliases: ['d', 'new'] });
});

test('merge records: the newest records of each survivor are kept, and an erasure of either visitor deletes its records', async () => {
  const account = randomUUID();
  const store = createVisitorStore(pool);
  const state = { properties: new VisitorProperties({ city: 'canary' }), setByServer: 0, apart: [] };
  const merge = (from: string, into: string) => ({
    accountId: account,
    from,
    into,
    record: {
      cause: { kind: 'alias' as const },
      survivor: state,
      loser: state,
      loserIdentities: [],
      mergedProperties: state.properties,
    },
  });
  for (const into of ['s', 't']) {
    await insertMerges(
      pool,
      Array.from({ length: recordsMax + 2 }, (_, n) => merge(`${into}${n}`, into)),
    );
  }
  const kept = await recordsOf(account, ['s']);
  expect(kept).toHaveLength(recordsMax);
  expect([kept[0]?.loser, kept.at(-1)?.loser]).toEqual([`s${recordsMax + 1}`, 's2']);
  await store.resolve([touch(account, { userId: 's5' }), touch(account, { userId: 't' })]);
  await eraseFor(pool, { accountId: account, id: 's5' });
  expect(await recordsOf(account, ['s'])).toHaveLength(recordsMax - 1);
  await eraseFor(pool, { accountId: account, id: 't' });
  expect(await recordsOf(account, ['t'])).toEqual([]);
});
