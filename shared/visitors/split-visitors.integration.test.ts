import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../postgres/migrate.ts';
import { createTestDatabase } from '../testing/servers.ts';
import type { TestDatabase } from '../testing/servers.ts';
import { openTestPool } from '../testing/test-pool.ts';
import { withoutTwins } from '../testing/twin-rows.ts';
import { eraseFor, sumLeftOut } from '../testing/visitors.ts';
import { shortenChains } from './alias-chains.ts';
import { joinVisitors } from './join-visitors.ts';
import { listMerges } from './merge-records.ts';
import { createVisitorStore } from './postgres-visitor-store.ts';
import type { PostgresVisitorStore } from './postgres-visitor-store.ts';
import { splitVisitors } from './split-visitors.ts';
import { suppressIdentifiers } from './suppressions.ts';
import type { VisitorClaim } from './visitor-identity.ts';
import type { VisitorTouch } from './visitor-store.ts';

let database: TestDatabase;
let pool: Pool;
/** A resolver's store of visitors. Its cache lives as long as the file's tests. */
let store: PostgresVisitorStore;

beforeAll(async () => {
  database = await createTestDatabase();
  await migrate(database.url);
  pool = openTestPool(database.url, 5);
  store = createVisitorStore(pool);
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

const nothing = async (): Promise<void> => {};

const join = (accountId: string, ...ids: [string, string]) =>
  joinVisitors(
    pool,
    { accountId, ids, cause: { kind: 'api', principal: 'key' }, propertiesBytesMax: 32 * 1024 },
    nothing,
  );

const split = (accountId: string, id: string, mergeId: string) =>
  splitVisitors(pool, { accountId, id, mergeId, undoneBy: 'key' }, nothing);

async function newestMerge(accountId: string, id: string): Promise<string> {
  const [merge] = await listMerges(pool, accountId, [id], { before: undefined, limit: 1 });
  return merge?.id ?? 'none';
}

/** All stored data of the visitors, except for versions and undone merges. */
async function rowsOf(accountId: string): Promise<unknown> {
  const { rows } = await pool.query(
    `select id, properties::text, coalesce(joined_to, merged_into) as merged_into, signed_in_as, set_by_server, created_at::text, updated_at::text,
        property_times, external_ids, emails, aliases
      from visitors where account_id = $1 order by id`,
    [accountId],
  );
  const identities = await pool.query(
    'select kind, value, visitor_id from visitor_identities where account_id = $1 order by 1, 2',
    [accountId],
  );
  return [rows, identities.rows];
}

async function resolvesTo(accountId: string, claim: Partial<VisitorClaim>): Promise<string> {
  const [outcome] = (await store.resolve([touch(accountId, claim)])).outcomes;
  return outcome?.kind === 'resolved' ? outcome.id : `${outcome?.kind}`;
}

const members = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom(1, 'two', true), { maxKeys: 3 });
const person = fc.record(
  {
    city: fc.constantFrom('Bern', 'Oslo'),
    phone_number: fc.constantFrom('1', '2'),
    custom_properties: members,
    consent: members,
  },
  { requiredKeys: [] },
);
const visitor = fc.record({ properties: person, isKnown: fc.boolean(), hasEmail: fc.boolean() });

test('split: merges of any visitors are undone one by one, and each undo leaves the rows as they were before the merge', async () => {
  const shapes = fc.record({
    visitors: fc.array(visitor, { minLength: 2, maxLength: 5 }),
    merges: fc.array(fc.tuple(fc.nat(4), fc.nat(4)), { minLength: 1, maxLength: 6 }),
    isShortened: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(shapes, async ({ visitors, merges, isShortened }) => {
      const account = randomUUID();
      for (const [n, { properties, isKnown, hasEmail }] of visitors.entries()) {
        const externalIds = isKnown ? [`x${n}`] : [];
        const emails = hasEmail ? [`${n}@example.com`] : [];
        await store.resolve([touch(account, { userId: `v${n}`, externalIds, emails }, properties)]);
      }
      await pool.query(
        `update visitors set properties = properties || '{"n": 12345678901234567890.10}', version = version + 1
          where account_id = $1 and id = 'v0'`,
        [account],
      );
      const done: { readonly before: unknown; readonly mergeId: string; readonly survivor: string }[] = [];
      for (const [a, b] of merges) {
        const before = await rowsOf(account);
        const joined = await join(account, `v${a % visitors.length}`, `v${b % visitors.length}`);
        if (joined.kind === 'merged') done.push({ before, ...joined });
      }
      const all = visitors.map((_, n) => ({ accountId: account, id: `v${n}` }));
      if (isShortened) await shortenChains(pool, all);
      // A cache that contains the merged visitors must notice the change.
      for (const { id } of all) await resolvesTo(account, { userId: id });
      for (const { before, mergeId, survivor } of done.toReversed()) {
        expect(await split(account, survivor, mergeId)).toMatchObject({ kind: 'split', taken: [] });
        expect(await rowsOf(account)).toEqual(before);
      }
      for (const [n, { isKnown, hasEmail }] of visitors.entries()) {
        expect(await resolvesTo(account, { userId: `v${n}` })).toBe(`v${n}`);
        if (isKnown) expect(await resolvesTo(account, { externalIds: [`x${n}`] })).toBe(`v${n}`);
        if (hasEmail) expect(await resolvesTo(account, { emails: [`${n}@example.com`] })).toBe(`v${n}`);
      }
    }),
    { numRuns: 25 },
  );
});

test('split: the survivor keeps properties set after the merge, and identities that other visitors have by then are reported', async () => {
  const account = randomUUID();
  const first = { city: 'Bern', zip: '1', custom_properties: { a: 1, b: 1 } };
  await store.resolve([touch(account, { userId: 'p', externalIds: ['x'] }, first)]);
  const device = { email: 'd@example.com', city: 'Oslo', job_title: 'cook', custom_properties: { b: 2, c: 2 } };
  await store.resolve([touch(account, { userId: 'd', emails: ['d@example.com'] }, device)]);
  await store.resolve([touch(account, { userId: 'd', externalIds: ['x'] })]);
  await store.resolve([
    touch(account, { externalIds: ['x'] }, { email: null, zip: '2', custom_properties: { c: 3, d: 3 } }),
    touch(account, { userId: 'other', emails: ['d@example.com'] }, { email: 'd@example.com' }),
  ]);
  expect(await split(account, 'd', await newestMerge(account, 'p'))).toEqual({
    kind: 'split',
    survivor: 'p',
    loser: 'd',
    taken: [{ kind: 'email', value: 'd@example.com', visitorId: 'other' }],
  });
  const survivor = await store.find(account, { id: 'p' });
  expect(survivor?.properties).toEqual({
    external_id: 'x',
    city: 'Bern',
    zip: '2',
    custom_properties: { a: 1, b: 1, c: 3, d: 3 },
  });
  expect(survivor?.aliases).toEqual([]);
  expect((await store.find(account, { id: 'd' }))?.properties).toEqual(device);
  expect(await resolvesTo(account, { emails: ['d@example.com'] })).toBe('other');
});

test('split: an identifier that was suppressed after the merge stays suppressed, however that came about', async () => {
  const account = randomUUID();
  const emails = ['1@example.com', '2@example.com', '3@example.com'];
  const [listed = '', erased = '', free = ''] = emails;
  await store.resolve([touch(account, { userId: 'p', externalIds: ['x'] })]);
  await store.resolve([touch(account, { userId: 'd', emails })]);
  await store.resolve([touch(account, { userId: 'd', externalIds: ['x'] })]);
  await store.resolve([touch(account, { externalIds: ['x'] }, { email: 'x@example.com' }, { email: null })]);
  await suppressIdentifiers(
    pool,
    { accountId: account, identifiers: [{ kind: 'email', value: listed }], reference: undefined },
    { now: Date.now, audit: nothing },
  );
  await store.resolve([touch(account, { userId: 'other', emails: [erased] })]);
  await eraseFor(pool, { accountId: account, id: 'other', isSuppressed: true });
  expect(await split(account, 'p', await newestMerge(account, 'p'))).toMatchObject({ kind: 'split', taken: [] });
  for (const email of [listed, erased]) {
    expect(await resolvesTo(account, { emails: [email] })).toBe('erased');
    expect(await store.find(account, { email })).toBeUndefined();
  }
  expect(await store.find(account, { email: free })).toMatchObject({ id: 'd' });
});

test('split: no sign-in merges two split visitors again, even after one was merged with a third; a merge through the API does', async () => {
  const account = randomUUID();
  await store.resolve([touch(account, { userId: 'p', externalIds: ['x'] })]);
  await store.resolve([touch(account, { userId: 'd' }, { city: 'Oslo' })]);
  const signIn = touch(account, { userId: 'd', externalIds: ['x'] });
  await store.resolve([signIn]);
  expect(await split(account, 'p', await newestMerge(account, 'p'))).toMatchObject({ kind: 'split' });
  await store.resolve([touch(account, { userId: 'e' }, { zip: '1' })]);
  expect(await join(account, 'd', 'e')).toMatchObject({ kind: 'merged', survivor: 'd' });
  const again = await store.resolve([signIn, touch(account, { userId: 'e', externalIds: ['x'] })]);
  expect(again.merged).toBe(0);
  expect(sumLeftOut(again.outcomes).keptApart).toBe(2);
  // The device's events belong to the person who signs in on it, as with any two people.
  expect(await resolvesTo(account, { userId: 'd' })).toBe('p');
  expect(await store.find(account, { id: 'd' })).toMatchObject({ id: 'd', properties: { city: 'Oslo', zip: '1' } });
  expect(await join(account, 'p', 'd')).toMatchObject({ kind: 'merged', survivor: 'p', loser: 'd' });
  expect(await store.find(account, { id: 'e' })).toMatchObject({ id: 'p' });
});

test('split: only the newest merge of a survivor can be undone, only once, and not after an erasure of its visitors', async () => {
  const account = randomUUID();
  for (const id of ['a', 'b', 'c', 'd']) await store.resolve([touch(account, { userId: id }, { city: id })]);
  expect(await join(account, 'b', 'c')).toMatchObject({ survivor: 'b' });
  const inner = await newestMerge(account, 'b');
  expect(await join(account, 'd', 'a')).toMatchObject({ survivor: 'a' });
  const first = await newestMerge(account, 'a');
  expect(await join(account, 'c', 'd')).toMatchObject({ survivor: 'a', loser: 'b' });
  const last = await newestMerge(account, 'a');
  for (const mergeId of [inner, first]) {
    expect(await split(account, 'a', mergeId)).toEqual({ kind: 'later', mergeId: last });
  }
  expect(await split(randomUUID(), 'a', last)).toEqual({ kind: 'missing' });
  expect(await split(account, 'nobody', last)).toEqual({ kind: 'missing' });
  expect(await split(account, 'a', last)).toMatchObject({ kind: 'split', loser: 'b' });
  expect(await split(account, 'a', last)).toEqual({ kind: 'undone' });
  await eraseFor(pool, { accountId: account, id: 'd' });
  expect(await split(account, 'a', first)).toEqual({ kind: 'missing' });
  expect(await split(account, 'c', inner)).toMatchObject({ kind: 'split', survivor: 'b', loser: 'c' });
  expect(await listMerges(pool, account, ['b', 'c'], { before: undefined, limit: 9 })).toHaveLength(1);
});

test('merge: a large cluster is merged and split off again without a write to its aliases', async () => {
  const account = randomUUID();
  await store.resolve([touch(account, { userId: 'old' })]);
  await store.resolve([touch(account, { userId: 'young' })]);
  await withoutTwins(
    pool,
    `insert into visitors (account_id, id, merged_into) select $1, 'a' || n, 'young' from generate_series(1, 20000) n`,
    [account],
  );
  expect(await join(account, 'a7', 'old')).toMatchObject({ survivor: 'old', loser: 'young' });
  expect(await split(account, 'a7', await newestMerge(account, 'old'))).toMatchObject({ kind: 'split' });
  const { rows } = await pool.query(
    'select count(*)::int as written from visitors where account_id = $1 and version > 1',
    [account],
  );
  expect(rows).toEqual([{ written: 2 }]);
  expect(await store.find(account, { id: 'a7' })).toMatchObject({ id: 'young' });
});
