import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../../shared/postgres/migrate.ts';
import { countWaitingForLocks } from '../../../shared/testing/database-sessions.ts';
import { rowsLookedAt } from '../../../shared/testing/rows-looked-at.ts';
import { createTestDatabase } from '../../../shared/testing/servers.ts';
import type { TestDatabase } from '../../../shared/testing/servers.ts';
import { openTestPool } from '../../../shared/testing/test-pool.ts';
import { eraseFor } from '../../../shared/testing/visitors.ts';
import type { AnnouncedErasure } from '../../../shared/visitors/erase-visitor.ts';
import { readAssignments, storeAssignments } from './assignment-store.ts';
import type { FirstAssignment } from './assignment-store.ts';

let database: TestDatabase;
/** Connections of two control planes. */
let one: Pool;
let other: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  await migrate(database.url);
  [one, other] = [openTestPool(database.url, 4), openTestPool(database.url, 4)];
});
afterAll(async () => {
  await Promise.all([one?.end(), other?.end()]);
  await database?.drop();
});

const experimentId = 'experiment';

function wanted(accountId: string, visitorIds: readonly string[], variantId: string): FirstAssignment[] {
  return visitorIds.map((visitorId) => ({ accountId, visitorId, experimentId, variantId }));
}

async function storedOf(accountId: string): Promise<ReadonlyMap<string, string>> {
  const { rows } = await one.query<{ visitor_id: string; variant_id: string }>(
    'select visitor_id, variant_id from experiment_assignments where account_id = $1',
    [accountId],
  );
  return new Map(rows.map((row) => [row.visitor_id, row.variant_id]));
}

function addVisitors(accountId: string, ids: readonly string[], mergedInto: string | null = null): Promise<unknown> {
  return one.query(
    'insert into visitors (account_id, id, merged_into) select $1, id, $3 from unnest($2::text[]) as k (id)',
    [accountId, ids, mergedInto],
  );
}

const waitingForLocks = (): Promise<number> => countWaitingForLocks(one);

const names = (count: number, prefix: string): string[] => Array.from({ length: count }, (_, n) => `${prefix}-${n}`);

test('assignment store: two control planes that assign the same new visitors at once return the same variant for each', async () => {
  const account = randomUUID();
  const visitors = names(200, 'v');
  // Batches in different orders: one repeats ids, and two overlap in half of their ids.
  const batches = [
    { pool: one, ids: [...visitors, ...visitors.slice(0, 20)], variantId: 'blue' },
    { pool: other, ids: visitors.toReversed(), variantId: 'green' },
    { pool: one, ids: visitors.slice(50, 150), variantId: 'red' },
    { pool: other, ids: visitors.slice(100), variantId: 'yellow' },
  ];
  const told = await Promise.all(
    batches.map(({ pool, ids, variantId }) => storeAssignments(pool, wanted(account, ids, variantId))),
  );
  const stored = await storedOf(account);
  expect(stored.size).toBe(visitors.length);
  batches.forEach(({ ids }, batch) => {
    expect(told[batch]?.map(({ assignments }) => assignments.get(experimentId))).toEqual(
      ids.map((id) => stored.get(id)),
    );
  });
});

test('assignment store: accounts and experiments stay separate, even if visitors and experiments have the same ids', async () => {
  const accounts = [randomUUID(), randomUUID()] as const;
  const asked = [
    { accountId: accounts[0], visitorId: 'v', experimentId: 'a', variantId: 'blue' },
    { accountId: accounts[1], visitorId: 'v', experimentId: 'a', variantId: 'green' },
    { accountId: accounts[0], visitorId: 'v', experimentId: 'b', variantId: 'red' },
  ];
  const told = await storeAssignments(one, asked);
  expect(told.map(({ assignments }, index) => assignments.get(asked[index]?.experimentId ?? ''))).toEqual([
    'blue',
    'green',
    'red',
  ]);
  const [first, second] = await readAssignments(other, [
    { accountId: accounts[0], visitorId: 'v' },
    { accountId: accounts[1], visitorId: 'v' },
  ]);
  expect([first?.assignments, second?.assignments]).toEqual([
    new Map([
      ['a', 'blue'],
      ['b', 'red'],
    ]),
    new Map([['a', 'green']]),
  ]);
});

test('assignment store: a visitor’s variant from before a merge stays, whichever of its ids a request uses', async () => {
  const account = randomUUID();
  await storeAssignments(one, wanted(account, ['alias'], 'blue'));
  await addVisitors(account, ['survivor', 'fresh']);
  await addVisitors(account, ['alias', 'another'], 'survivor');
  await addVisitors(account, ['fresh-alias'], 'fresh');
  const told = await storeAssignments(
    other,
    wanted(account, ['survivor', 'alias', 'another', 'fresh-alias', 'fresh'], 'green'),
  );
  expect(told.map(({ assignments }) => assignments.get(experimentId))).toEqual([
    'blue',
    'blue',
    'blue',
    'green',
    'green',
  ]);
  expect(await storedOf(account)).toEqual(
    new Map([
      ['alias', 'blue'],
      ['fresh', 'green'],
    ]),
  );
});

test('assignment store: after a merge of two visitors the earlier assignment counts', async () => {
  const account = randomUUID();
  await storeAssignments(one, wanted(account, ['a'], 'blue'));
  await storeAssignments(one, wanted(account, ['b'], 'green'));
  await addVisitors(account, ['b']);
  await addVisitors(account, ['a'], 'b');
  const found = await readAssignments(
    other,
    ['a', 'b'].map((visitorId) => ({ accountId: account, visitorId })),
  );
  expect(found.map(({ assignments }) => assignments.get(experimentId))).toEqual(['blue', 'blue']);
});

test('assignment store: nothing is stored about an erased visitor, even while its erasure is still under way', async () => {
  const account = randomUUID();
  await addVisitors(account, ['going', 'staying']);
  await addVisitors(account, ['alias'], 'going');
  let told: ReturnType<typeof storeAssignments> | undefined;
  const announce = async ({ isAhead }: AnnouncedErasure): Promise<void> => {
    if (!isAhead) return;
    told = storeAssignments(other, wanted(account, ['going', 'alias', 'staying'], 'blue'));
    await expect.poll(waitingForLocks, { timeout: 30_000 }).toBe(1);
  };
  expect(await eraseFor(one, { accountId: account, id: 'going' }, { announce })).toEqual(['going', 'alias']);
  expect((await told)?.map(({ erased }) => erased)).toEqual([true, true, false]);
  expect(await storedOf(account)).toEqual(new Map([['staying', 'blue']]));
  const [later] = await readAssignments(other, [{ accountId: account, visitorId: 'alias' }]);
  expect(later).toMatchObject({ erased: false, assignments: new Map() });
});

test('assignment store: a person keeps the variant of its device, also if a request uses its externalId', async () => {
  const accountId = randomUUID();
  const variantsOf = async (id: string, variantId: string) =>
    (await storeAssignments(one, wanted(accountId, [id], variantId))).map((found) =>
      found.assignments.get(experimentId),
    );
  expect(await variantsOf('device', 'blue')).toEqual(['blue']);
  expect(await variantsOf('early', 'red')).toEqual(['red']);
  await addVisitors(accountId, ['device', 'other']);
  await one.query(
    `insert into visitor_identities (account_id, kind, value, visitor_id)
      values ($1, 'external_id', 'customer', 'device'), ($1, 'external_id', 'early', 'other')`,
    [accountId],
  );
  expect(await variantsOf('customer', 'green')).toEqual(['blue']);
  // Stored before the visitor had this externalId.
  expect(await variantsOf('early', 'green')).toEqual(['red']);
  await one.query(
    `insert into visitor_identities (account_id, kind, value, visitor_id)
      values ($1, 'external_id', 'bare', 'other'), ($1, 'external_id', 'other', 'device')`,
    [accountId],
  );
  const asked = ['customer', 'early', 'bare', 'device', 'other', 'unknown'];
  const read = await readAssignments(
    other,
    asked.map((visitorId) => ({ accountId, visitorId })),
  );
  expect(asked.filter((_id, index) => read[index]?.isExternalId)).toEqual(['customer', 'early', 'bare']);
  await eraseFor(one, { accountId, id: 'device', isSuppressed: true });
  expect(await storeAssignments(one, wanted(accountId, ['customer', 'device'], 'green'))).toMatchObject([
    { erased: true },
    { erased: true },
  ]);
  await eraseFor(one, { accountId, id: 'other' });
  expect(await storedOf(accountId)).toEqual(new Map());
});

test('assignment store: query plans made on empty tables read only a few rows once the tables are full', async () => {
  const fresh = openTestPool(database.url, 1);
  try {
    const account = randomUUID();
    await fresh.query('truncate visitors, experiment_assignments');
    await storeAssignments(fresh, wanted(account, ['first'], 'blue'));
    await readAssignments(fresh, [{ accountId: account, visitorId: 'first' }]);
    const known = names(2_000, 'known');
    await addVisitors(account, known);
    await addVisitors(account, names(2_000, 'alias'), 'known-0');
    await storeAssignments(other, wanted(account, [...known, ...names(2_000, 'new')], 'blue'));
    const [accounts, ids] = [`'{${account},${account}}'`, `'{known-7,new-7}'`];
    const looked = {
      read: await rowsLookedAt(fresh, `"read-experiment-assignments"(${accounts}, ${ids})`),
      store: await rowsLookedAt(
        fresh,
        `"store-experiment-assignments"(${accounts}, ${ids}, '{another,another}', '{blue,blue}')`,
      ),
    };
    expect(looked.read).toBeLessThan(20);
    expect(looked.store).toBeLessThan(20);
  } finally {
    await fresh.end();
  }
});

test('assignment store: all ids of a chain of merged visitors share the one stored assignment', async () => {
  const accountId = randomUUID();
  await addVisitors(accountId, ['root']);
  await addVisitors(accountId, ['second', 'beside'], 'root');
  await addVisitors(accountId, ['third'], 'second');
  await addVisitors(accountId, ['fourth'], 'third');
  // Stored as if this had happened before the visitors were merged.
  await one.query(
    `insert into experiment_assignments (account_id, visitor_id, experiment_id, variant_id) values ($1, 'third', $2, 'b')`,
    [accountId, experimentId],
  );
  const ids = ['root', 'second', 'beside', 'third', 'fourth'];
  const read = await readAssignments(
    one,
    ids.map((visitorId) => ({ accountId, visitorId })),
  );
  for (const { assignments } of read) expect(assignments.get(experimentId)).toBe('b');
  const stored = await storeAssignments(one, wanted(accountId, ids, 'a'));
  for (const { assignments } of stored) expect(assignments.get(experimentId)).toBe('b');
  expect(await storedOf(accountId)).toEqual(new Map([['third', 'b']]));
  await eraseFor(one, { accountId, id: 'root', isSuppressed: true });
  for (const { erased } of await storeAssignments(one, wanted(accountId, ids, 'a'))) expect(erased).toBe(true);
});
