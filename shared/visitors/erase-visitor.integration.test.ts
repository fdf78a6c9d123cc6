// Large: cases of one function on one database.
import { createHmac, hash, randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { MockInstance } from 'vitest';
import { migrate } from '../postgres/migrate.ts';
import { migrationList } from '../postgres/migrations/migration-list.ts';
import { createTestDatabase } from '../testing/servers.ts';
import type { TestDatabase } from '../testing/servers.ts';
import { openTestPool } from '../testing/test-pool.ts';
import { eraseFor } from '../testing/visitors.ts';
import type { AnnouncedErasure } from './erase-visitor.ts';
import { createVisitorStore } from './postgres-visitor-store.ts';
import { deleteSuppression, selectSuppressions } from './suppressions.ts';
import { unstoredVisitorId } from './visitor-identity.ts';
import type { VisitorClaim } from './visitor-identity.ts';
import { VisitorsUnavailableError } from './visitor-store.ts';
import type { VisitorOutcome, VisitorStore, VisitorTouch } from './visitor-store.ts';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  await migrate(database.url);
  pool = openTestPool(database.url, 20);
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

type Received = { readonly claim: Partial<VisitorClaim>; readonly at?: number; readonly given?: VisitorTouch['given'] };

function touch(accountId: string, { claim, at = Date.now(), given = [] }: Received): VisitorTouch {
  const all = { userId: undefined, externalIds: [], emails: [], anonymousId: undefined, ...claim };
  return { accountId, claim: all, receivedAtMs: at, given, sentWith: 'server' };
}

const idOf = (outcome: VisitorOutcome | undefined): string =>
  outcome?.kind === 'resolved' ? outcome.id : `${outcome?.kind}`;

const outcomesOf = async (store: VisitorStore, touches: readonly VisitorTouch[]): Promise<readonly string[]> =>
  (await store.resolve(touches)).outcomes.map(idOf);

/**
 * Erases a visitor, and waits until the time of the erasure has passed. Returns this time, in ms since the epoch:
 * events received up to it belong to the erased visitor.
 */
async function erase(accountId: string, id: string, isSuppressed = false): Promise<number> {
  const announced: number[] = [];
  const announce = async ({ atMs }: AnnouncedErasure): Promise<void> => void announced.push(atMs);
  expect(await eraseFor(pool, { accountId, id, isSuppressed }, { announce })).not.toEqual([]);
  const [, atMs = Infinity] = announced;
  await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(atMs));
  return atMs;
}

async function allRows(accountId: string): Promise<string> {
  const { rows } = await pool.query<{ row: string }>(
    `select v::text as row from visitors v where account_id = $1
      union all select i::text from visitor_identities i where account_id = $1
      union all select e::text from erasures e where account_id = $1`,
    [accountId],
  );
  return rows.map(({ row }) => row).join('\n');
}

const ann = {
  userId: 'ann-canary',
  externalIds: ['customer-canary'],
  emails: ['ann-canary@example.com'],
} as const satisfies Partial<VisitorClaim>;
const named = { first_name: 'Ann-canary', email: 'ann-canary@example.com' };

test('erase visitor: nothing of the visitor can be read, and earlier events with any of its identifiers are dropped', async () => {
  const account = randomUUID();
  const warm = createVisitorStore(pool);
  await warm.resolve([touch(account, { claim: { userId: 'alias-canary' } })]);
  await warm.resolve([touch(account, { claim: ann, given: [named] })]);
  await warm.resolve([touch(account, { claim: { userId: 'alias-canary', externalIds: ['customer-canary'] } })]);
  const at = await erase(account, 'alias-canary');
  expect(await allRows(account)).not.toContain('canary');
  for (const store of [warm, createVisitorStore(pool)]) {
    const late = [
      ann,
      { userId: 'ann-canary' },
      { userId: 'alias-canary' },
      { externalIds: ['customer-canary'] },
      { emails: ['ann-canary@example.com'] },
      { userId: 'another', externalIds: ['customer-canary'] },
    ].map((claim) => touch(account, { claim, at, given: [named] }));
    expect(await outcomesOf(store, late)).toEqual(late.map(() => 'erased'));
  }
  expect(await allRows(account)).not.toContain('canary');
});

test('erase visitor: test events that named its identifier before a visitor had it are erased and announced too', async () => {
  const account = randomUUID();
  const none = { userId: undefined, anonymousId: undefined, externalIds: [], emails: [] };
  const ofTests = [
    unstoredVisitorId(account, { ...none, externalIds: ann.externalIds }),
    unstoredVisitorId(account, { ...none, emails: ann.emails }),
  ];
  await pool.query(
    `insert into recent_events (account_id, id, time, received_at, source_id, name, visitor_id, test, body)
      select $1, 'e-' || id, now(), now(), 's', 'Signup', id, true, '{}' from unnest($2::text[]) as t (id)`,
    [account, [...ofTests, 'of another']],
  );
  await createVisitorStore(pool).resolve([touch(account, { claim: ann })]);
  const announced: (readonly string[])[] = [];
  const announce = async ({ ids }: AnnouncedErasure): Promise<void> => void announced.push(ids.toSorted());
  expect(await eraseFor(pool, { accountId: account, id: 'ann-canary' }, { announce })).toEqual(['ann-canary']);
  const all = ['ann-canary', ...ofTests].toSorted();
  expect(announced).toEqual([all, all]);
  const { rows } = await pool.query('select visitor_id from recent_events where account_id = $1', [account]);
  expect(rows).toEqual([{ visitor_id: 'of another' }]);
});

test('erase visitor: a person who comes back is a new visitor with no data, and late events do not reach it', async () => {
  const account = randomUUID();
  const warm = createVisitorStore(pool);
  await warm.resolve([touch(account, { claim: ann, given: [named, { city: 'Oslo' }] })]);
  const at = await erase(account, 'ann-canary');
  const back = touch(account, { claim: ann, given: [{ zip: '0150' }] });
  const { outcomes } = await warm.resolve([back]);
  expect(outcomes).toMatchObject([{ kind: 'resolved', id: 'ann-canary', created: true }]);
  const late = touch(account, { claim: ann, at, given: [{ city: 'Rome' }] });
  for (const store of [warm, createVisitorStore(pool)]) {
    expect(await outcomesOf(store, [late, back])).toEqual(['erased', 'ann-canary']);
    expect((await store.lookUp([late])).outcomes.map(idOf)).toEqual(['erased']);
    expect(await store.find(account, { email: 'ann-canary@example.com' })).toMatchObject({
      id: 'ann-canary',
      properties: { zip: '0150' },
      aliases: [],
    });
  }
});

test('erase visitor: a cache that missed the erasure does not mistake the new visitor of the same id for the erased one', async () => {
  const account = randomUUID();
  const claim = { userId: 'u' };
  const [stale, other] = [createVisitorStore(pool), createVisitorStore(pool)];
  await stale.resolve([touch(account, { claim, given: [{ city: 'Oslo' }] })]);
  await erase(account, 'u');
  await other.resolve([touch(account, { claim, given: [{ city: 'Rome' }] })]);
  // The new row has the same version as the erased row, and now there is no record of a change.
  await pool.query('delete from visitor_changes');
  expect((await stale.lookUp([touch(account, { claim })])).outcomes).toMatchObject([
    { properties: { value: { city: 'Rome' } } },
  ]);
});

test.each([false, true])(
  'erase visitor: a cache that missed the erasure confirms nothing of the erased visitor, suppressed: %s',
  async (isSuppressed) => {
    const account = randomUUID();
    const stale = createVisitorStore(pool);
    const touches = [ann, { userId: 'ann-canary' }, { emails: ['ann-canary@example.com'] }].map((claim) => ({ claim }));
    const [first = { claim: ann }, ...others] = touches;
    await stale.resolve([touch(account, { ...first, given: [named] })]);
    for (const received of touches) await stale.lookUp([touch(account, received)]);
    await erase(account, 'ann-canary', isSuppressed);
    const now = vi.spyOn(performance, 'now');
    const laterMs = performance.now() + 61_000;
    // After such a time without events the store no longer reads which visitors were changed meanwhile.
    now.mockImplementation(() => laterMs);
    try {
      const seen = await stale.lookUp(others.map((received) => touch(account, received)));
      const [outcome] = (await stale.resolve([touch(account, { ...first, given: [{ city: 'Oslo' }] })])).outcomes;
      const [again] = (await stale.lookUp([touch(account, first)])).outcomes;
      if (isSuppressed) {
        expect([...seen.outcomes, outcome, again]).toEqual(Array.from({ length: 4 }, () => ({ kind: 'erased' })));
        return;
      }
      // Nothing is known of them, so they are to be created.
      expect(seen.outcomes).toEqual([undefined, undefined]);
      const properties = { value: { external_id: 'customer-canary', city: 'Oslo' } };
      expect(outcome).toMatchObject({ kind: 'resolved', created: true });
      for (const one of [outcome, again]) expect(one).toMatchObject({ kind: 'resolved', id: 'ann-canary', properties });
      expect(outcome?.kind === 'resolved' && outcome.properties.value).toEqual(properties.value);
    } finally {
      now.mockRestore();
    }
  },
);

test('erase visitor: erasing one id of a cluster erases the whole cluster, however long its chain of merges', async () => {
  const account = randomUUID();
  const ids = Array.from({ length: 2_500 }, (_, n) => `id-${n}`);
  // Each visitor was merged into the previous one; the last ones were merged into the first.
  await pool.query(
    `insert into visitors (account_id, id, merged_into)
      select $1, 'id-' || n, case when n = 0 then null when n > 2400 then 'id-0' else 'id-' || (n - 1) end
      from generate_series(0, 2499) as n`,
    [account],
  );
  await pool.query(`insert into visitor_identities values ($1, 'email', 'canary@example.com', 'id-1200')`, [account]);
  await pool.query(`insert into visitors (account_id, id) values ($1, 'bystander')`, [account]);
  const erased = await eraseFor(pool, { accountId: account, id: 'id-2300' });
  expect(erased[0]).toBe('id-0');
  expect(new Set(erased)).toEqual(new Set(ids));
  expect((await pool.query('select id from visitors where account_id = $1', [account])).rows).toEqual([
    { id: 'bystander' },
  ]);
  const store = createVisitorStore(pool);
  const late = [{ userId: 'id-1' }, { userId: 'id-2499' }, { emails: ['canary@example.com'] }];
  const at = Date.now() - 60_000;
  const touches = late.map((claim) => touch(account, { claim, at }));
  expect(await outcomesOf(store, touches)).toEqual(['erased', 'erased', 'erased']);
});

test('erase visitor: another account with the same ids loses nothing', async () => {
  const [account, other] = [randomUUID(), randomUUID()];
  const store = createVisitorStore(pool);
  for (const accountId of [account, other]) await store.resolve([touch(accountId, { claim: ann, given: [named] })]);
  // Rows of other tables about the visitor: the twins of these accounts have them as well.
  for (const accountId of [account, other]) {
    await pool.query(
      `insert into recent_events (account_id, id, time, received_at, source_id, name, visitor_id, test, body)
        values ($1, 'e1', now(), now(), 's', 'Signup', 'ann-canary', false, '{}')`,
      [accountId],
    );
    // A client may have asked for the variant of the externalId.
    await pool.query(`insert into experiment_assignments select $1, id, 'x', 'v' from unnest($2::text[]) as k (id)`, [
      accountId,
      ['ann-canary', ...(ann.externalIds ?? [])],
    ]);
    await pool.query(
      `insert into experiment_visitors (account_id, experiment_id, visitor_id) values ($1, 'x', 'ann-canary')`,
      [accountId],
    );
  }
  const at = await erase(account, 'ann-canary');
  for (const table of ['recent_events', 'experiment_assignments', 'experiment_visitors']) {
    const { rows } = await pool.query(`select distinct account_id from ${table} where account_id = any($1)`, [
      [account, other],
    ]);
    expect([table, rows]).toEqual([table, [{ account_id: other }]]);
  }
  const late = [account, other].map((accountId) => touch(accountId, { claim: ann, at }));
  expect(await outcomesOf(store, late)).toEqual(['erased', 'ann-canary']);
  expect(await store.find(other, { id: 'ann-canary' })).toMatchObject({ properties: named });
});

test.each([false, true])(
  'erase visitor: a person who shares a device with the erased one keeps all data, suppressed: %s',
  async (isSuppressed) => {
    const account = randomUUID();
    const store = createVisitorStore(pool);
    const [device, bob] = ['tablet', 'customer-bob'];
    await store.resolve([touch(account, { claim: { userId: device, externalIds: ['customer-canary'] } })]);
    const signedIn = touch(account, { claim: { userId: device, externalIds: [bob] }, given: [{ first_name: 'Bob' }] });
    const [bobId] = await outcomesOf(store, [signedIn]);
    const { id = '' } = (await store.find(account, { externalId: 'customer-canary' })) ?? {};
    expect(bobId).not.toBe(id);
    const at = await erase(account, id, isSuppressed);
    const ofBob = (receivedAt: number): VisitorTouch =>
      touch(account, { claim: { userId: device, externalIds: [bob] }, at: receivedAt });
    expect(await outcomesOf(store, [ofBob(at), ofBob(at + 1)])).toEqual([bobId, bobId]);
    expect(await store.find(account, { externalId: bob })).toMatchObject({ properties: { first_name: 'Bob' } });
    const late = [{ userId: device }, { userId: device, externalIds: ['customer-canary'] }];
    const touches = late.map((claim) => touch(account, { claim, at }));
    expect(await outcomesOf(createVisitorStore(pool), touches)).toEqual(['erased', 'erased']);
    // A suppressed device stays suppressed if a known or a new person signs in on it, and also after an alias.
    const alias = { userId: device, externalIds: [bob, 'customer-bob-2'], isAlias: true };
    expect(await outcomesOf(store, [touch(account, { claim: alias })])).toEqual([bobId]);
    const ofCarl = touch(account, { claim: { userId: device, externalIds: ['customer-carl'] } });
    const [carlId = ''] = await outcomesOf(store, [ofCarl]);
    const ofDevice = touch(account, { claim: { userId: device } });
    for (const one of [store, createVisitorStore(pool)]) {
      expect(await outcomesOf(one, [ofDevice, ofCarl])).toEqual([isSuppressed ? 'erased' : carlId, carlId]);
    }
    expect((await store.find(account, { id: device })) === undefined).toBe(isSuppressed);
  },
);

test('erase visitor: a device on which the erased person was signed in belongs to its own visitor again', async () => {
  const account = randomUUID();
  const store = createVisitorStore(pool);
  // The tablet is Bob's own, and Ann signs in on it later.
  await store.resolve([touch(account, { claim: { userId: 'tablet', externalIds: ['customer-bob'] } })]);
  await store.resolve([touch(account, { claim: { userId: 'tablet', externalIds: ['customer-canary'] } })]);
  const { id = '' } = (await store.find(account, { userId: 'tablet' })) ?? {};
  expect(await store.find(account, { externalId: 'customer-canary' })).toMatchObject({ id });
  const at = await erase(account, id);
  const { id: ownId } = (await store.find(account, { externalId: 'customer-bob' })) ?? {};
  expect(await outcomesOf(store, [touch(account, { claim: { userId: 'tablet' }, at })])).toEqual([ownId]);
  expect(await allRows(account)).not.toContain('canary');
});

test('erase visitor: later events with a suppressed identifier are dropped too, also after another erasure', async () => {
  const account = randomUUID();
  const store = createVisitorStore(pool);
  await store.resolve([touch(account, { claim: ann }), touch(account, { claim: { userId: 'friend' } })]);
  await erase(account, 'ann-canary', true);
  const later = (): VisitorTouch[] =>
    [
      { userId: 'ann-canary' },
      { externalIds: ['customer-canary'] },
      { userId: 'friend', emails: ['ann-canary@example.com'] },
      { userId: 'friend' },
    ].map((claim) => touch(account, { claim }));
  expect(await outcomesOf(store, later())).toEqual(['erased', 'erased', 'erased', 'friend']);
  await erase(account, 'friend');
  expect(await outcomesOf(createVisitorStore(pool), later())).toEqual(['erased', 'erased', 'erased', 'friend']);
});

test('erase visitor: concurrent writers bring back nothing that was erased, and lose no later event', async () => {
  const account = randomUUID();
  const claims: Partial<VisitorClaim>[] = [
    ann,
    { userId: 'ann-canary' },
    { externalIds: ['customer-canary'] },
    { emails: ['ann-canary@example.com'] },
  ];
  for (let round = 0; round < 8; round += 1) {
    const stores = [createVisitorStore(pool), createVisitorStore(pool), createVisitorStore(pool)];
    await stores[0]?.resolve([touch(account, { claim: ann, given: [{ custom_properties: { old: round } }] })]);
    const erasure = { isOver: false };
    const writing = stores.map(async (store, writer) => {
      // The event is received before the erasure; it may be resolved at any time.
      const at = Date.now();
      for (let n = 0; !erasure.isOver || n < 5; n += 1) {
        const claim = claims[(writer + n) % claims.length] ?? ann;
        const given = [{ custom_properties: { late: round } }];
        await store.resolve([touch(account, { claim, at, given })]).catch((error: unknown) => {
          // The store gave up after ten attempts: the event would be delivered again.
          if (!(error instanceof VisitorsUnavailableError)) throw error;
        });
      }
    });
    await erase(account, 'ann-canary');
    erasure.isOver = true;
    await Promise.all(writing);
    expect(await allRows(account)).not.toContain('late');
    const back = touch(account, { claim: ann, given: [{ custom_properties: { back: round } }] });
    expect(await stores[1]?.resolve([back])).toMatchObject({ outcomes: [{ kind: 'resolved', created: true }] });
    const found = await stores[2]?.find(account, { externalId: 'customer-canary' });
    expect(found?.properties).toEqual({ external_id: 'customer-canary', custom_properties: { back: round } });
  }
});

test('erase visitor: an erasure between two queries of a writer is seen by the writer', async () => {
  const own = openTestPool(database.url, 3);
  try {
    const account = randomUUID();
    await createVisitorStore(pool).resolve([touch(account, { claim: ann, given: [named] })]);
    const late = touch(account, { claim: ann, given: [named] });
    const query = own.query.bind(own) as (statement: { readonly name?: string }) => Promise<unknown>;
    let isErased = false;
    // The visitor is erased just before the next query for visitors.
    const spied = vi.spyOn(own, 'query') as unknown as MockInstance<typeof query>;
    spied.mockImplementation(async (statement) => {
      if (statement.name === 'select-visitors' && !isErased) {
        isErased = true;
        await erase(account, 'ann-canary');
      }
      return query(statement);
    });
    expect(await outcomesOf(createVisitorStore(own), [late])).toEqual(['erased']);
    expect(isErased).toBe(true);
    expect(await allRows(account)).not.toContain('canary');
  } finally {
    await own.end();
  }
});

test('erase visitor: an erasure is announced with a later time before its commit, and with its final time after it', async () => {
  const account = randomUUID();
  await createVisitorStore(pool).resolve([touch(account, { claim: { userId: 'u' } })]);
  const announced: (AnnouncedErasure & { readonly aheadMs: number; readonly rows: number })[] = [];
  const beganMs = Date.now();
  await eraseFor(
    pool,
    { accountId: account, id: 'u' },
    {
      async announce(erasure) {
        const { rowCount } = await pool.query('select from visitors where account_id = $1', [account]);
        announced.push({ ...erasure, aheadMs: erasure.atMs - Date.now(), rows: rowCount ?? 0 });
      },
    },
  );
  expect(announced).toMatchObject([
    { ids: ['u'], isAhead: true, rows: 1 },
    { ids: ['u'], isAhead: false, rows: 0 },
  ]);
  expect(announced[0]?.aheadMs).toBeGreaterThan(50_000);
  expect(announced[1]?.aheadMs).toBeLessThanOrEqual(0);
  const { rows } = await pool.query<{ at: Date }>('select erased_at as at from erasures where account_id = $1', [
    account,
  ]);
  expect(rows).toHaveLength(1);
  for (const { at } of rows) {
    expect(at.getTime()).toBeGreaterThanOrEqual(beganMs);
    expect(at.getTime()).toBeLessThanOrEqual(Date.now());
  }
});

test('erase visitor: if the services’ clock was set back by an hour, earlier events are still erased; if by 48 hours, they are not', async () => {
  const account = randomUUID();
  await createVisitorStore(pool).resolve([touch(account, { claim: { userId: 'u' } })]);
  const beganMs = Date.now();
  for (const [id, backMs, isErased] of [
    ['u', 3_600_000, true],
    // A database clock that is ahead by 48 hours counts as wrong.
    ['v', 48 * 3_600_000, false],
  ] as const) {
    await createVisitorStore(pool).resolve([touch(account, { claim: { userId: id } })]);
    const times: number[] = [];
    const announce = async ({ atMs }: AnnouncedErasure): Promise<void> => void times.push(atMs);
    await eraseFor(pool, { accountId: account, id }, { announce, now: () => Date.now() - backMs });
    expect(times.map((atMs) => atMs >= beganMs)).toEqual([isErased, isErased]);
  }
});

test('erase visitor: an erasure that cannot be announced erases nothing', async () => {
  const account = randomUUID();
  const store = createVisitorStore(pool);
  await store.resolve([touch(account, { claim: ann, given: [named] })]);
  const announce = (): Promise<void> => Promise.reject(new Error('the log is away'));
  await expect(eraseFor(pool, { accountId: account, id: 'ann-canary' }, { announce })).rejects.toThrow(
    'the log is away',
  );
  expect(await store.find(account, { id: 'ann-canary' })).toMatchObject({ properties: named });
  expect(await outcomesOf(store, [touch(account, { claim: ann })])).toEqual(['ann-canary']);
});

test('erase visitor: an erased id is kept as an HMAC with the key in erasure_keys', async () => {
  const account = randomUUID();
  await createVisitorStore(pool).resolve([touch(account, { claim: { userId: 'u' } })]);
  await erase(account, 'u');
  const { rows: keys } = await pool.query<{ inner_key: Buffer; outer_key: Buffer }>('select * from erasure_keys');
  const { rows: found } = await pool.query<{ hash: Buffer }>('select hash from erasures where account_id = $1', [
    account,
  ]);
  const [{ inner_key: inner } = { inner_key: Buffer.alloc(64) }] = keys;
  const key = Buffer.from(inner.map((byte) => byte ^ 0x36));
  const message = hash('sha256', `${account}\nvisitor\nu`, 'buffer');
  expect(found).toEqual([{ hash: createHmac('sha256', key).update(message).digest() }]);
});

test('upgrade: tombstones of earlier versions become erasures with their times, also those created during the upgrade', async () => {
  // A migration concerns all accounts.
  const own = await createTestDatabase({ hasTwins: false });
  const before = migrationList.filter(({ name }) => name < '0015');
  await migrate(own.url, undefined, before);
  const ownPool = openTestPool(own.url, 5);
  try {
    const account = randomUUID();
    const sha256 = (text: string): string => hash('sha256', text, 'hex');
    const atMs = Date.now() - 3_600_000;
    const makeTombstone = async (id: string): Promise<void> => {
      await ownPool.query('insert into visitors (account_id, id) values ($1, $2)', [account, id]);
      await ownPool.query('insert into visitors (account_id, id, merged_into) values ($1, $2, $3)', [
        account,
        `${id}-alias`,
        id,
      ]);
      await ownPool.query(`insert into visitor_identities values ($1, 'email', $2, $3)`, [
        account,
        `erased:${sha256(`${account}\nemail\n${id}@example.com`)}`,
        id,
      ]);
      await ownPool.query(
        `update visitors set properties = '{}', erased_at = $3, updated_at = now(), version = version + 1
          where account_id = $1 and id = $2`,
        [account, id, new Date(atMs)],
      );
    };
    await makeTombstone('old-canary');
    await migrate(own.url);
    // Created by a control plane of the previous version, which still runs.
    await makeTombstone('young-canary');
    for (const table of ['visitors', 'visitor_identities']) {
      expect((await ownPool.query(`select * from ${table}`)).rows).toEqual([]);
    }
    // For the first control plane, which announces them in the log.
    const { rows: notices } = await ownPool.query(
      `select account_id as account, key_id as key, erased_at as at, array(select unnest(visitors) order by 1) as ids
        from erasure_notices order by 4`,
    );
    const ids = [
      ['old-canary', 'old-canary-alias'],
      ['young-canary', 'young-canary-alias'],
    ];
    expect(notices).toEqual(ids.map((cluster) => ({ account, key: '', at: new Date(atMs), ids: cluster })));
    const store = createVisitorStore(ownPool);
    for (const id of ['old-canary', 'young-canary']) {
      const claims = [{ userId: id }, { userId: `${id}-alias` }, { emails: [`${id}@example.com`] }];
      const received = (at: number): VisitorTouch[] => claims.map((claim) => touch(account, { claim, at }));
      expect(await outcomesOf(store, received(atMs))).toEqual(['erased', 'erased', 'erased']);
      expect((await store.resolve(received(atMs + 1))).created).toBe(3);
    }
  } finally {
    await ownPool.end();
    await own.drop();
  }
});

test('upgrade: suppressions of earlier versions apply, are listed and can be removed, also those created during the upgrade', async () => {
  const own = await createTestDatabase();
  await migrate(
    own.url,
    undefined,
    migrationList.filter(({ name }) => name < '0021'),
  );
  const ownPool = openTestPool(own.url, 5);
  try {
    const [account, other] = [randomUUID(), randomUUID()];
    const atMs = Date.now() - 3_600_000;
    const suppressAsBefore = (accountId: string, email: string): Promise<unknown> =>
      ownPool.query(
        `insert into erasures (account_id, hash, erased_at, suppressed)
          select $1::uuid, erasure_hash($1::uuid, 'email', $2), $3::timestamptz, true
          on conflict (account_id, hash) do update set suppressed = erasures.suppressed or excluded.suppressed`,
        [accountId, email, new Date(atMs)],
      );
    await suppressAsBefore(account, 'old@example.com');
    await suppressAsBefore(other, 'old@example.com');
    await migrate(own.url);
    // Suppressed by a control plane of the previous version, which still runs.
    await suppressAsBefore(account, 'young@example.com');
    const store = createVisitorStore(ownPool);
    for (const value of ['old@example.com', 'young@example.com']) {
      const received = (accountId = account): VisitorTouch[] => [touch(accountId, { claim: { emails: [value] } })];
      expect(await outcomesOf(store, received())).toEqual(['erased']);
      const page = { limit: 2, after: undefined };
      const listed = await selectSuppressions(ownPool, account, { identifier: { kind: 'email', value } }, page);
      expect(listed).toEqual([
        { id: expect.stringMatching(/^[0-9a-f]{64}$/), kind: undefined, sinceMs: atMs, reference: undefined },
      ]);
      expect(await deleteSuppression(ownPool, account, { id: listed[0]?.id ?? '', atMs: Date.now() - 1 })).toBe(true);
      expect((await store.resolve(received())).created).toBe(1);
    }
    expect(await outcomesOf(store, [touch(other, { claim: { emails: ['old@example.com'] } })])).toEqual(['erased']);
  } finally {
    await ownPool.end();
    await own.drop();
  }
});
