import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../postgres/migrate.ts';
import { createTestDatabase } from '../testing/servers.ts';
import type { TestDatabase } from '../testing/servers.ts';
import { openTestPool } from '../testing/test-pool.ts';
import { withoutTwins } from '../testing/twin-rows.ts';
import { eraseFor } from '../testing/visitors.ts';
import { rootOf } from './alias-chains.ts';
import { createVisitorStore } from './postgres-visitor-store.ts';
import type { VisitorClaim } from './visitor-identity.ts';
import type { VisitorTouch } from './visitor-store.ts';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  await migrate(database.url);
  pool = openTestPool(database.url, 10);
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

function touch(accountId: string, claim: Partial<VisitorClaim>, ...given: VisitorTouch['given']): VisitorTouch {
  return {
    accountId,
    claim: { userId: undefined, externalIds: [], emails: [], anonymousId: undefined, ...claim },
    receivedAtMs: Date.now(),
    given,
    sentWith: 'server',
  };
}

/**
 * Inserts the aliases `a1`, `a2` … as merges leave them. The SQL expression `into` computes the id that alias n was
 * merged into.
 */
async function addAliases(account: string, count: number, into: string): Promise<void> {
  const sql = `insert into visitors (account_id, id, merged_into, created_at)
    select $1, 'a' || n, ${into}, now() + n * interval '1 ms' from generate_series(1, $2::int) n`;
  await (count > 10_000 ? withoutTwins(pool, sql, [account, count]) : pool.query(sql, [account, count]));
}

async function addIdentities(account: string, count: number): Promise<void> {
  await pool.query(
    `insert into visitor_identities (account_id, kind, value, visitor_id)
      select $1, 'external_id', 'x' || n, 'a' || n from generate_series(1, $2::int) n`,
    [account, count],
  );
}

const storedIds = async (account: string): Promise<string[]> => {
  const { rows } = await pool.query<{ text: string }>(
    `select v::text as text from visitors v where account_id = $1 and properties <> '{}'
      union all select i::text from visitor_identities i where account_id = $1 and value not like 'erased:%'`,
    [account],
  );
  return rows.map(({ text }) => text);
};

test('merge: the merged visitor’s aliases are not written, and their ids and identities lead to the older visitor', async () => {
  const account = randomUUID();
  const store = createVisitorStore(pool);
  await store.resolve([touch(account, { userId: 'older', externalIds: ['real'] }, { city: 'Oslo' })]);
  await store.resolve([touch(account, { userId: 'kiosk', externalIds: ['shared'] }, { zip: '1' })]);
  await addAliases(account, 20_000, "'kiosk'");
  await addIdentities(account, 5_000);
  const touches = [touch(account, { externalIds: ['shared', 'real'], isAlias: true })];
  expect(await store.resolve(touches)).toMatchObject({ merged: 1, updated: 2 });
  const { rows } = await pool.query(
    `select count(*)::int as aliases from visitors where account_id = $1 and merged_into = 'kiosk' and version = 1`,
    [account],
  );
  expect(rows).toEqual([{ aliases: 20_000 }]);
  // Read by the store that merged the visitors, and by a store with an empty cache.
  for (const reader of [store, createVisitorStore(pool)]) {
    const claims = [{ userId: 'a1' }, { userId: 'a20000' }, { externalIds: ['x7'] }, { userId: 'kiosk' }];
    const { outcomes } = await reader.resolve(claims.map((claim) => touch(account, claim)));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ kind: 'resolved', id: 'older', created: false });
    const again = await reader.lookUp(claims.map((claim) => touch(account, claim)));
    for (const outcome of again.outcomes) expect(outcome).toMatchObject({ id: 'older' });
  }
  const found = await store.find(account, { externalId: 'x4999' });
  expect(found).toMatchObject({ id: 'older', properties: { city: 'Oslo', zip: '1' } });
  expect(found?.externalIds).toEqual(expect.arrayContaining(['real', 'shared']));
  expect(found?.aliases).toContain('kiosk');
  expect(found?.aliases).toHaveLength(1_000);
});

test('merge: all ids and identities of visitors that were merged one after the other lead to the oldest', async () => {
  const account = randomUUID();
  const store = createVisitorStore(pool);
  const count = 12;
  for (let n = 0; n < count; n += 1) {
    await store.resolve([
      touch(account, { userId: `v${n}`, externalIds: [`x${n}`], emails: [`${n}@example.com`] }, { [`own${n}`]: n }),
    ]);
  }
  for (let n = count - 1; n > 0; n -= 1) {
    await store.resolve([touch(account, { externalIds: [`x${n}`, `x${n - 1}`], isAlias: true })]);
  }
  for (const reader of [store, createVisitorStore(pool)]) {
    for (let n = 0; n < count; n += 1) {
      const claims = [{ userId: `v${n}` }, { externalIds: [`x${n}`] }, { emails: [`${n}@example.com`] }];
      const { outcomes } = await reader.resolve(claims.map((claim) => touch(account, claim)));
      for (const outcome of outcomes) expect(outcome).toMatchObject({ id: 'v0', created: false });
    }
  }
  const found = await store.find(account, { email: '11@example.com' });
  expect(found).toMatchObject({ id: 'v0', properties: { own0: 0, own11: 11 } });
  expect(found?.aliases).toHaveLength(count - 1);
  expect(found?.externalIds).toHaveLength(count);
  expect(found?.emails).toHaveLength(count);
});

test('chain of aliases: a long chain is shortened to a few steps when its visitors are resolved', async () => {
  const account = randomUUID();
  const store = createVisitorStore(pool);
  await store.resolve([touch(account, { userId: 'root' }, { city: 'Oslo' })]);
  const length = 3_500;
  await addAliases(account, length, "case n when 1 then 'root' else 'a' || n - 1 end");
  const hops = async (id: string): Promise<number> => {
    let count = 0;
    for (let at: string | null | undefined = id; at !== undefined && at !== null; count += 1) {
      const found: { readonly rows: readonly { merged_into: string | null }[] } = await pool.query(
        'select merged_into from visitors where account_id = $1 and id = $2',
        [account, at],
      );
      at = found.rows[0]?.merged_into;
    }
    return count - 1;
  };
  expect(await hops(`a${length}`)).toBe(length);
  // The last alias is requested twice: rows that were read before the chain was shortened still lead to its end.
  const { outcomes } = await store.resolve([
    touch(account, { userId: `a${length}` }),
    touch(account, { userId: 'a3' }),
    touch(account, { userId: `a${length}` }, { zip: '1' }),
  ]);
  for (const outcome of outcomes) expect(outcome).toMatchObject({ id: 'root', created: false });
  expect(await hops(`a${length}`)).toBeLessThanOrEqual(4);
  expect(await hops(`a${length - 1_500}`)).toBeLessThanOrEqual(4);
  expect(await rootOf(pool, account, `a${length}`)).toBe('root');
  expect(await store.find(account, { id: 'a2000' })).toMatchObject({ id: 'root', properties: { zip: '1' } });
});

test('chain of aliases: a reader follows a chain to its end, even if it was not shortened', async () => {
  const account = randomUUID();
  await createVisitorStore(pool).resolve([touch(account, { userId: 'root' })]);
  await addAliases(account, 2_500, "case n when 1 then 'root' else 'a' || n - 1 end");
  expect(await rootOf(pool, account, 'a2500')).toBe('root');
  expect(await createVisitorStore(pool).find(account, { id: 'a2500' })).toMatchObject({ id: 'root' });
});

test('erase: visitors merged into the erased one are erased too, however many, and over chains of any length', async () => {
  const account = randomUUID();
  const store = createVisitorStore(pool);
  await store.resolve([touch(account, { userId: 'root', emails: ['ann@example.com'] }, { city: 'Oslo' })]);
  await store.resolve([touch(account, { userId: 'other', externalIds: ['y'] })]);
  // A tree with both shapes: a thousand aliases of the root, and chains of a hundred aliases each.
  const count = 3_000;
  await addAliases(account, count, "case when n <= 1000 then 'root' when n % 100 = 0 then 'a1' else 'a' || n - 1 end");
  await addIdentities(account, count);
  const receivedAtMs = Date.now();
  const erased = await eraseFor(pool, { accountId: account, id: 'a2999' });
  expect(erased[0]).toBe('root');
  expect(new Set(erased).size).toBe(count + 1);
  for (const row of await storedIds(account)) expect(row).toContain(',other,');
  const late = [
    { userId: 'root' },
    { userId: 'a1' },
    { userId: 'a2950' },
    { externalIds: ['x1'] },
    { externalIds: ['x2999'] },
    { emails: ['ann@example.com'] },
  ];
  for (const reader of [store, createVisitorStore(pool)]) {
    const { outcomes } = await reader.resolve(
      late.map((claim) => ({ ...touch(account, claim, { city: 'Oslo' }), receivedAtMs })),
    );
    for (const outcome of outcomes) expect(outcome).toEqual({ kind: 'erased' });
  }
  expect(await store.find(account, { externalId: 'y' })).toMatchObject({ id: 'other' });
});

test('clearing an identity: identities from before a merge are removed too, so that another visitor may have them', async () => {
  const account = randomUUID();
  const store = createVisitorStore(pool);
  await store.resolve([touch(account, { userId: 'older', externalIds: ['x1'] }, { external_id: 'x1' })]);
  await store.resolve([touch(account, { userId: 'younger', externalIds: ['x2'] }, { external_id: 'x2' })]);
  await store.resolve([touch(account, { externalIds: ['x2', 'x1'], isAlias: true })]);
  // Another visitor gets one identity in the batch that clears it, and the other identity in the next batch.
  await store.resolve([
    touch(account, { userId: 'younger' }, { external_id: null }),
    touch(account, { userId: 'ann', externalIds: ['x2'] }),
  ]);
  await store.resolve([touch(account, { userId: 'bob', externalIds: ['x1'] })]);
  expect(await store.find(account, { externalId: 'x2' })).toMatchObject({ id: 'ann' });
  expect(await store.find(account, { externalId: 'x1' })).toMatchObject({ id: 'bob' });
  expect(await store.find(account, { id: 'younger' })).toMatchObject({ id: 'older', externalIds: [] });
});
