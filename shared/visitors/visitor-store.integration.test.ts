// Large: cases of one store on one database.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import pg from 'pg';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { PostgresServer } from '../embedded/postgres/postgres-server.ts';
import { migrate } from '../postgres/migrate.ts';
import { rowsLookedAt } from '../testing/rows-looked-at.ts';
import { createTestDatabase, startTestPostgres } from '../testing/servers.ts';
import type { TestDatabase, TestDatabaseOptions } from '../testing/servers.ts';
import { openTestPool } from '../testing/test-pool.ts';
import { eraseFor, sumLeftOut } from '../testing/visitors.ts';
import type { JsonObject } from '../runtime/json.ts';
import { selectAccountErasures, selectErasures } from './erasures.ts';
import { createVisitorStore } from './postgres-visitor-store.ts';
import type { PostgresVisitorStore } from './postgres-visitor-store.ts';
import type { VisitorClaim } from './visitor-identity.ts';
import { VisitorsRefusedError, VisitorsUnavailableError } from './visitor-store.ts';
import type { KeyTrust, VisitorOutcome, VisitorTouch } from './visitor-store.ts';

let server: PostgresServer;
let database: TestDatabase;
let pool: Pool;

const createDatabase = (options: TestDatabaseOptions = {}): Promise<TestDatabase> =>
  createTestDatabase({ ...options, serverUrl: server.url });

beforeAll(async () => {
  // The store reads changes by snapshots, which show the transactions of all databases: it needs its own server.
  server = await startTestPostgres();
  database = await createDatabase();
  await migrate(database.url);
  pool = openTestPool(database.url, 20);
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
  await server?.stop();
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

const nextMillisecond = (atMs = Date.now()): Promise<void> =>
  vi.waitFor(() => expect(Date.now()).toBeGreaterThan(atMs));

const idOf = (outcome: VisitorOutcome | undefined): string =>
  outcome?.kind === 'resolved' ? outcome.id : `${outcome?.kind}`;

test('visitor store: a visitor is found by id, by externalId, and by e-mail address in any spelling', async () => {
  const account = randomUUID();
  const store = createVisitorStore(pool);
  const email = { email: 'ann@example.com' };
  await store.resolve([
    touch(account, { userId: 'u', externalIds: ['x'], emails: ['ann@example.com'] }, email, { city: 'Oslo' }),
  ]);
  const found = await store.find(account, { id: 'u' });
  expect(found).toMatchObject({
    id: 'u',
    properties: { ...email, city: 'Oslo' },
    externalIds: ['x'],
    emails: ['ann@example.com'],
    aliases: [],
  });
  expect(await store.find(account, { externalId: 'x' })).toEqual(found);
  expect(await store.find(account, { email: ' Ann@Example.com ' })).toEqual(found);
  expect(await store.find(randomUUID(), { id: 'u' })).toBeUndefined();
  expect(await store.find(account, { id: 'missing' })).toBeUndefined();
});

test('visitor store: the property rules hold over several batches and stores', async () => {
  const account = randomUUID();
  const given = [
    { city: 'Oslo', zip: '1', custom_properties: { a: 1, b: 2 } },
    { city: null, zip: '', custom_properties: { a: null, c: 3 } },
    { gender: 'f', custom_properties: { b: '' } },
  ];
  for (const properties of given) {
    await createVisitorStore(pool).resolve([touch(account, { userId: 'u' }, properties)]);
  }
  const found = await createVisitorStore(pool).find(account, { id: 'u' });
  expect(found?.properties).toEqual({ zip: '1', gender: 'f', custom_properties: { a: 1, b: 2, c: 3 } });
});

test('visitor store: a batch that changes nothing writes nothing', async () => {
  const account = randomUUID();
  const store = createVisitorStore(pool);
  const batch = [touch(account, { externalIds: ['x'] }, { city: 'Oslo' })];
  expect(await store.resolve(batch)).toMatchObject({ created: 1, updated: 0 });
  const before = await store.find(account, { externalId: 'x' });
  expect(await store.resolve(batch)).toMatchObject({ created: 0, updated: 0 });
  expect(await createVisitorStore(pool).resolve(batch)).toMatchObject({ created: 0, updated: 0 });
  expect(await store.find(account, { externalId: 'x' })).toEqual(before);
});

test('visitor store: a look-up resolves a visitor with nothing to write, while other visitors of the batch wait for the write', async () => {
  const [known, other] = [randomUUID(), randomUUID()];
  const store = createVisitorStore(pool);
  await store.resolve([touch(known, { userId: 'u' }, { city: 'Oslo' })]);
  const touches = [
    touch(other, { userId: 'n' }, { city: 'Bergen' }),
    touch(known, { userId: 'u' }, { city: 'Oslo' }),
    touch(other, { externalIds: ['x'] }),
  ];
  const { outcomes, write } = await store.lookUp(touches);
  expect(outcomes).toMatchObject([undefined, { id: 'u', created: false }, undefined]);
  // Another store writes meanwhile. Its writes are kept: only the touches of the other account are decided again.
  await createVisitorStore(pool).resolve([
    touch(known, { userId: 'u' }, { city: 'Rome' }),
    touch(other, { userId: 'n' }, { zip: '1' }),
  ]);
  const written = await write();
  expect(written).toMatchObject({ created: 1, updated: 1 });
  expect(written.outcomes.map(idOf)).toEqual(['n', idOf(written.outcomes[1])]);
  expect(await store.find(known, { id: 'u' })).toMatchObject({ properties: { city: 'Rome' } });
  expect(await store.find(other, { id: 'n' })).toMatchObject({ properties: { city: 'Bergen', zip: '1' } });
  expect((await store.lookUp(touches.slice(2))).outcomes.map(idOf)).toEqual([idOf(written.outcomes[1])]);
});

test('visitor store: a look-up finds a connection while writers wait for a lock', async () => {
  const [known, other] = [randomUUID(), randomUUID()];
  const few = openTestPool(database.url, 2);
  const holder = await pool.connect();
  try {
    const store = createVisitorStore(few);
    await store.resolve([touch(known, { userId: 'u' }), touch(other, { userId: 'n' })]);
    await holder.query('begin');
    await holder.query('select 1 from visitors where account_id = $1 for update', [other]);
    const writes = ['a', 'b', 'c'].map((city) => store.resolve([touch(other, { userId: 'n' }, { city })]));
    for (let times = 0; times < 5; times += 1) {
      expect((await store.lookUp([touch(known, { userId: 'u' })])).outcomes.map(idOf)).toEqual(['u']);
    }
    await holder.query('commit');
    expect((await Promise.all(writes)).flatMap(({ outcomes }) => outcomes.map(idOf))).toEqual(['n', 'n', 'n']);
  } finally {
    holder.release();
    await few.end();
  }
});

test('visitor store: a store whose cache is old sees and keeps what another one wrote', async () => {
  const account = randomUUID();
  const [one, two] = [createVisitorStore(pool), createVisitorStore(pool)];
  const plan = (value: string) => touch(account, { externalIds: ['x'] }, { plan: value });
  await one.resolve([plan('free')]);
  await two.resolve([touch(account, { externalIds: ['x'] }, { city: 'Oslo' }), plan('paid')]);
  const [outcome] = (await one.resolve([plan('free')])).outcomes;
  expect(outcome).toMatchObject({ properties: { value: { plan: 'free', city: 'Oslo' } } });
  expect((await two.find(account, { externalId: 'x' }))?.properties).toEqual({
    external_id: 'x',
    plan: 'free',
    city: 'Oslo',
  });
});

test('visitor store: one externalId merges two visitors into the older one, in every store', async () => {
  const account = randomUUID();
  const [one, two] = [createVisitorStore(pool), createVisitorStore(pool)];
  await one.resolve([touch(account, { externalIds: ['x'] }, { city: 'Oslo', zip: '1' })]);
  await one.resolve([touch(account, { userId: 'u', emails: ['y@x.z'] }, { city: 'Rome' })]);
  const older = await one.find(account, { externalId: 'x' });
  expect(await two.resolve([touch(account, { userId: 'u', externalIds: ['x'] })])).toMatchObject({ merged: 1 });
  // The first store has both previous visitors in its cache.
  const { outcomes } = await one.resolve([
    touch(account, { userId: 'u' }),
    touch(account, { emails: ['y@x.z'] }),
    touch(account, { externalIds: ['x'] }),
  ]);
  expect(outcomes.map(idOf)).toEqual([older?.id, older?.id, older?.id]);
  expect(await one.find(account, { id: 'u' })).toMatchObject({
    id: older?.id,
    properties: { city: 'Rome', zip: '1' },
    externalIds: ['x'],
    emails: ['y@x.z'],
    aliases: ['u'],
  });
});

test('visitor store: eight writers over one externalId make one visitor and lose no property', async () => {
  const account = randomUUID();
  const writers = 8;
  const rounds = 10;
  const write = async (writer: number): Promise<string[]> => {
    const store = createVisitorStore(pool);
    const ids: string[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const { outcomes } = await store.resolve([
        touch(
          account,
          { externalIds: [`x${round}`] },
          { [`p${writer}`]: round, custom_properties: { [`c${writer}_${round}`]: true } },
        ),
        touch(account, { externalIds: ['hot'] }, { [`p${writer}_${round}`]: round }),
      ]);
      ids.push(...outcomes.map(idOf));
    }
    return ids;
  };
  const all = await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  for (const ids of all) expect(ids).toEqual(all[0]);
  const store = createVisitorStore(pool);
  const hot = await store.find(account, { externalId: 'hot' });
  // The properties of all writers, and the externalId.
  expect(Object.keys(hot?.properties ?? {})).toHaveLength(writers * rounds + 1);
  for (let round = 0; round < rounds; round += 1) {
    const found = await store.find(account, { externalId: `x${round}` });
    expect(Object.keys(found?.properties['custom_properties'] ?? {})).toHaveLength(writers);
  }
  const { rows } = await pool.query<{ count: number }>('select count(*)::int from visitors where account_id = $1', [
    account,
  ]);
  expect(rows[0]?.count).toBe(rounds + 1);
});

test('visitor store: eight writers that merge crosswise end with one visitor and every property', async () => {
  const account = randomUUID();
  const writers = 8;
  const setup = createVisitorStore(pool);
  for (let n = 0; n < writers; n += 1) {
    await setup.resolve([touch(account, { userId: `u${n}`, externalIds: [`x${n}`] }, { [`own${n}`]: n })]);
  }
  const write = (n: number) =>
    createVisitorStore(pool).resolve([
      touch(
        account,
        { userId: `u${n}`, externalIds: [`x${n}`, `x${(n + 1) % writers}`], isAlias: true },
        { [`merged${n}`]: n },
      ),
    ]);
  await Promise.all(Array.from({ length: writers }, (_, n) => write(n)));
  const found = await setup.find(account, { id: 'u5' });
  expect(found?.id).toBe('u0');
  expect(found?.externalIds).toHaveLength(writers);
  expect(found?.aliases).toHaveLength(writers - 1);
  for (let n = 0; n < writers; n += 1) expect(found?.properties).toMatchObject({ [`own${n}`]: n, [`merged${n}`]: n });
});

test('visitor store: the new id of an alias may be that of a stored device', async () => {
  const account = randomUUID();
  await createVisitorStore(pool).resolve([touch(account, { userId: 'd' }, { city: 'Oslo' })]);
  const store = createVisitorStore(pool);
  const { outcomes } = await store.resolve([
    touch(account, { userId: 'x', externalIds: ['x', 'd'], isAlias: true }, { external_id: 'd' }),
  ]);
  expect(outcomes.map(idOf)).toEqual(['d']);
  expect(await store.find(account, { externalId: 'x' })).toMatchObject({ id: 'd', properties: { city: 'Oslo' } });
});

test('visitor store: the last sign-in on a device is known in every store, and a store that has read it does not read it again', async () => {
  const account = randomUUID();
  const [one, two] = [createVisitorStore(pool), createVisitorStore(pool)];
  const signIn = (externalId: string) =>
    touch(account, { userId: 'd', externalIds: [externalId] }, { external_id: externalId });
  const device = touch(account, { userId: 'd' });
  await one.resolve([signIn('alice')]);
  expect((await two.resolve([device])).outcomes.map(idOf)).toEqual(['d']);
  const { outcomes } = await one.resolve([signIn('bob')]);
  expect(sumLeftOut(outcomes).keptApart).toBe(1);
  const bob = idOf(outcomes[0]);
  for (const store of [one, two, createVisitorStore(pool)]) {
    for (let times = 0; times < 2; times += 1) {
      expect((await store.lookUp([device, signIn('bob')])).outcomes.map(idOf)).toEqual([bob, bob]);
    }
  }
  const { misses, confirmed } = two.cache;
  await two.lookUp([device]);
  expect(two.cache).toMatchObject({ misses, confirmed });
  expect((await one.find(account, { userId: 'd' }))?.id).toBe(bob);
  expect(await one.find(account, { id: 'd' })).toMatchObject({ id: 'd', externalIds: ['alice'] });
  // The first person comes back.
  expect((await two.resolve([signIn('alice'), device])).outcomes.map(idOf)).toEqual(['d', 'd']);
  expect((await one.resolve([device])).outcomes.map(idOf)).toEqual(['d']);
});

test('visitor store: one device, many writers: each person is one visitor, in any order of sign-ins', async () => {
  const account = randomUUID();
  const people = ['a', 'b', 'c', 'd'];
  const write = async (externalId: string): Promise<Set<string>> => {
    const store = createVisitorStore(pool);
    const ids = new Set<string>();
    for (let round = 0; round < 8; round += 1) {
      const own = { external_id: externalId, [`p${externalId}`]: round };
      const { outcomes } = await store.resolve([touch(account, { userId: 'kiosk', externalIds: [externalId] }, own)]);
      ids.add(idOf(outcomes[0]));
    }
    return ids;
  };
  const ids = await Promise.all(people.map(write));
  expect(ids.map(({ size }) => size)).toEqual([1, 1, 1, 1]);
  expect(new Set(ids.flatMap((of) => [...of])).size).toBe(4);
  const store = createVisitorStore(pool);
  for (const externalId of people) {
    const found = await store.find(account, { externalId });
    expect(found?.properties).toEqual({ external_id: externalId, [`p${externalId}`]: 7 });
  }
});

test('visitor store: a public key cannot change what a server has set, in any store or through a merge', async () => {
  const account = randomUUID();
  const attack = touch(account, { userId: 'd', externalIds: ['x'] }, { external_id: 'x', email: 'evil@x.y' });
  const email = { external_id: 'x', email: 'a@b.c' };
  await createVisitorStore(pool).resolve([
    { ...touch(account, { userId: 'd' }, { email: 'evil@x.y' }), sentWith: 'public' },
  ]);
  await createVisitorStore(pool).resolve([touch(account, { externalIds: ['x'] }, email)]);
  const store = createVisitorStore(pool);
  for (let times = 0; times < 2; times += 1) {
    const attacked = await store.resolve([{ ...attack, sentWith: 'public' }]);
    expect(sumLeftOut(attacked.outcomes).notOverwritten).toBe(1);
    expect((await store.find(account, { externalId: 'x' }))?.properties).toEqual(email);
  }
  // A server changes the address; the same value again is not written.
  await store.resolve([touch(account, { externalIds: ['x'] }, { email: 'new@b.c' })]);
  expect(await store.resolve([touch(account, { externalIds: ['x'] }, { email: 'new@b.c' })])).toMatchObject({
    updated: 0,
  });
});

test('visitor store: a value that the database never accepts is refused, and not reported as an unavailable database', async () => {
  const store = createVisitorStore(pool);
  await expect(store.resolve([touch('no-uuid', { userId: 'u' })])).rejects.toThrow(VisitorsRefusedError);
  const away = openTestPool('postgres://missing@127.0.0.1:1/none', 20);
  await expect(createVisitorStore(away).resolve([touch(randomUUID(), { userId: 'u' })])).rejects.toThrow(
    VisitorsUnavailableError,
  );
  await away.end();
});

test('visitor store: odd ids and values come back as they were given', async () => {
  const account = randomUUID();
  const store = createVisitorStore(pool);
  const userId = `${'ü'.repeat(390)}"\\\n'; --`;
  const properties = { a: [1, { b: 'x\u2028' }], 'quote"': '\\', big: 1e300, nothing: { deep: null } };
  await store.resolve([touch(account, { userId, emails: [`${'é'.repeat(900)}@b.c`] }, properties)]);
  expect(await store.find(account, { id: userId })).toMatchObject({ id: userId, properties });
  expect((await store.find(account, { email: `${'É'.repeat(900)}@B.c` }))?.id).toBe(userId);
});

test('visitor store: numbers that the database writes with more digits are returned no longer than they were sent', async () => {
  const account = randomUUID();
  const store = createVisitorStore(pool);
  const numbers = Object.fromEntries(Array.from({ length: 1_500 }, (_, n) => [`k${n}`, 1e300]));
  const properties = { custom_properties: numbers };
  await store.resolve([touch(account, { userId: 'numbers' }, properties)]);
  const written = await pool.query<{ characters: number }>(
    'select length(properties::text) as characters from visitors where account_id = $1',
    [account],
  );
  // For this test PostgreSQL must write more digits than were sent.
  expect(written.rows[0]?.characters).toBeGreaterThan(400_000);
  const { outcomes } = await createVisitorStore(pool).resolve([
    touch(account, { userId: 'numbers' }, { city: 'Wien' }),
  ]);
  const travels = outcomes[0]?.kind === 'resolved' ? outcomes[0].properties.value : undefined;
  const sent = JSON.stringify({ ...properties, city: 'Wien' });
  expect(JSON.stringify(travels)?.length).toBe(sent.length);
  expect(JSON.stringify((await store.find(account, { id: 'numbers' }))?.properties).length).toBe(sent.length);
});

test('visitor store: properties of many visitors are stored together unchanged, whatever characters they contain', async () => {
  const store = createVisitorStore(pool);
  const account = randomUUID();
  const texts = ['a\nb', '"', '\\', '{a,b}', '\u2028', 'NULL', '\\n', ''];
  const properties = texts.map((text, n) => ({ n, text: `<${text}>`, [`k${text}`]: n }));
  const touches = properties.map((own, n) => touch(account, { userId: `odd-${n}` }, own));
  await store.resolve(touches);
  await store.resolve(properties.map((own, n) => touch(account, { userId: `odd-${n}` }, { ...own, again: '\n' })));
  const found = await Promise.all(texts.map((_, n) => store.find(account, { id: `odd-${n}` })));
  expect(found.map((visitor) => visitor?.properties)).toEqual(properties.map((own) => ({ ...own, again: '\n' })));
});

/** Other users of the server may keep transactions open for this long. */
const waiting = { timeout: 20_000, interval: 200 };

const statementsOf = (spied: { readonly mock: { readonly calls: readonly unknown[][] } }): unknown[] =>
  spied.mock.calls.map(([query]) =>
    typeof query === 'object' && query !== null && 'name' in query ? query.name : query,
  );

test('visitor store: for known visitors the only query is for changes', async () => {
  const account = randomUUID();
  const own = openTestPool(database.url, 2);
  try {
    const store = createVisitorStore(own);
    const touches = [
      touch(account, { externalIds: ['x'], emails: ['ann@example.com'] }, { city: 'Oslo' }),
      touch(account, { userId: 'u' }),
      touch(account, { anonymousId: 'a' }),
    ];
    await store.resolve(touches);
    // The store knows its own writes already.
    const before = await store.lookUp(touches);
    const asked = vi.spyOn(own, 'query');
    const { outcomes } = await store.lookUp(touches);
    expect(statementsOf(asked)).toEqual(['select-visitor-changes']);
    expect(outcomes).toEqual(before.outcomes);
    expect(outcomes.map(idOf)).toEqual([expect.any(String), 'u', 'a']);
    asked.mockClear();
    await createVisitorStore(pool).resolve([touch(account, { userId: 'u' }, { city: 'Rome' })]);
    expect((await store.lookUp(touches)).outcomes[1]).toMatchObject({ properties: { value: { city: 'Rome' } } });
    expect(statementsOf(asked)).toEqual(['select-visitor-changes', 'select-visitors']);
    expect(store.cache.hits).toBeGreaterThan(0);
  } finally {
    await own.end();
  }
});

test('visitor store: a change is seen when it is committed, however long ago it was made', async () => {
  const account = randomUUID();
  const store = createVisitorStore(pool);
  const holder = await pool.connect();
  const cityOf = async (): Promise<unknown> => (await store.lookUp([touch(account, { userId: 'u' })])).outcomes;
  const is = (city: string) => [{ kind: 'resolved', properties: { value: { city } } }];
  try {
    await store.resolve([touch(account, { userId: 'u' }, { city: 'Oslo' })]);
    await holder.query('begin');
    await holder.query(
      `update visitors set properties = '{"city":"Rome"}', version = version + 1 where account_id = $1`,
      [account],
    );
    // Meanwhile the store reads the changes of others; it must still read the pending change once that is committed.
    for (let n = 0; n < 3; n += 1) {
      expect(await cityOf()).toMatchObject(is('Oslo'));
      await createVisitorStore(pool).resolve([touch(account, { userId: `n${n}` }, { n })]);
      await createVisitorStore(pool).resolve([touch(account, { userId: `n${n}` }, { n: -n - 1 })]);
    }
    await holder.query('commit');
    expect(await cityOf()).toMatchObject(is('Rome'));
  } finally {
    holder.release(true);
  }
});

test('visitor store: if more changes than are read at once occur during an open transaction, cached visitors are confirmed', async () => {
  const account = randomUUID();
  const store = createVisitorStore(pool);
  const holder = await pool.connect();
  const lookUp = async () => (await store.lookUp([touch(account, { userId: 'u' })])).outcomes;
  try {
    await store.resolve([touch(account, { userId: 'u' }, { city: 'Oslo' }), touch(account, { userId: 'other' })]);
    await holder.query('begin');
    await holder.query('select pg_current_xact_id()');
    for (let n = 0; n < 600; n += 1) {
      await pool.query(`update visitors set version = version + 1 where account_id = $1 and id = 'other'`, [account]);
    }
    const { confirmed } = store.cache;
    await lookUp();
    await lookUp();
    expect(store.cache.confirmed).toBeGreaterThan(confirmed + 1);
    await createVisitorStore(pool).resolve([touch(account, { userId: 'u' }, { city: 'Rome' })]);
    expect(await lookUp()).toMatchObject([{ properties: { value: { city: 'Rome' } } }]);
    await holder.query('commit');
    await vi.waitFor(async () => {
      await lookUp();
      const { hits } = store.cache;
      await lookUp();
      expect(store.cache.hits).toBeGreaterThan(hits);
    }, waiting);
  } finally {
    holder.release(true);
    await pool.query('delete from visitor_changes');
  }
});

test.each(['the store that cleared it', 'another store'])(
  'visitor store: a cleared e-mail address no longer leads to its visitor, in %s',
  async (which) => {
    const account = randomUUID();
    const [one, two] = [createVisitorStore(pool), createVisitorStore(pool)];
    const byEmail = touch(account, { emails: ['ann@example.com'] });
    const email = { email: 'ann@example.com' };
    await one.resolve([touch(account, { userId: 'u', emails: ['ann@example.com'] }, email)]);
    for (const store of [one, two]) expect((await store.lookUp([byEmail])).outcomes.map(idOf)).toEqual(['u']);
    await one.resolve([touch(account, { userId: 'u' }, { email: null })]);
    const { outcomes } = await (which === 'another store' ? two : one).resolve([byEmail]);
    expect(outcomes).toMatchObject([{ kind: 'resolved', created: true }]);
    for (const store of [one, two])
      expect((await store.resolve([byEmail])).outcomes.map(idOf)).toEqual(outcomes.map(idOf));
  },
);

test.each(['the store that cleared it', 'another store'])(
  'visitor store: a cleared e-mail address of a merged visitor no longer leads to its person, in %s',
  async (which) => {
    const account = randomUUID();
    const [one, two] = [createVisitorStore(pool), createVisitorStore(pool)];
    const byEmail = touch(account, { emails: ['ann@example.com'] });
    const email = { email: 'ann@example.com' };
    await one.resolve([touch(account, { externalIds: ['x'] }, { external_id: 'x' })]);
    await one.resolve([touch(account, { userId: 'u', emails: ['ann@example.com'] }, email)]);
    // Known to the cache while it is a visitor of its own.
    for (const store of [one, two]) await store.lookUp([byEmail]);
    await one.resolve([touch(account, { userId: 'u', externalIds: ['x'] }, { external_id: 'x' })]);
    for (const store of [one, two])
      expect((await store.lookUp([byEmail])).outcomes).toMatchObject([{ created: false }]);
    await (which === 'another store' ? two : one).resolve([touch(account, { externalIds: ['x'] }, { email: null })]);
    const { outcomes } = await one.resolve([byEmail]);
    expect(outcomes).toMatchObject([{ kind: 'resolved', created: true }]);
    for (const store of [one, two])
      expect((await store.resolve([byEmail])).outcomes.map(idOf)).toEqual(outcomes.map(idOf));
  },
);

test('visitor store: visitors that were deleted, one or all of them, are created again', async () => {
  const account = randomUUID();
  const store = createVisitorStore(pool);
  const touches = [touch(account, { userId: 'u' }), touch(account, { userId: 'w' })];
  const known = async () => (await store.lookUp(touches)).outcomes.map(idOf);
  await store.resolve(touches);
  expect(await known()).toEqual(['u', 'w']);
  await pool.query(`delete from visitors where account_id = $1 and id = 'u'`, [account]);
  expect(await store.resolve(touches)).toMatchObject({ created: 1 });
  expect(await known()).toEqual(['u', 'w']);
  await pool.query('truncate visitors, visitor_identities');
  expect(await store.resolve(touches)).toMatchObject({ created: 2 });
});

type Written = {
  readonly by: number;
  readonly claim: VisitorClaim;
  readonly given: JsonObject;
  readonly sentWith: KeyTrust;
};

test('visitor store: a store with a cache returns what a store without one returns, whatever other writers do', async () => {
  const account = randomUUID();
  const warm = [createVisitorStore(pool), createVisitorStore(pool)];
  const names = ['1', '2', '3', '4'];
  const claims: Partial<VisitorClaim>[] = [
    ...names.map((n) => ({ userId: `u${n}` })),
    ...names.map((n) => ({ externalIds: [`x${n}`] })),
    ...names.map((n) => ({ emails: [`${n}@example.com`] })),
  ];
  const claim = fc.record({
    userId: fc.option(fc.constantFrom(...names.map((n) => `u${n}`)), { nil: undefined }),
    externalIds: fc.array(fc.constantFrom(...names.map((n) => `x${n}`)), { maxLength: 1 }),
    emails: fc.array(fc.constantFrom(...names.map((n) => `${n}@example.com`)), { maxLength: 1 }),
  });
  const given = fc.record(
    {
      city: fc.constantFrom('Oslo', 'Rome', null),
      email: fc.constantFrom(null, '1@example.com'),
      external_id: fc.constantFrom(null, 'x1'),
    },
    { requiredKeys: [] },
  );
  const sentWith = fc.constantFrom<KeyTrust>('server', 'public', 'test');
  const write = fc.record({ by: fc.constantFrom(0, 1, 2), claim, given, sentWith });
  const erase = fc.record({
    erased: fc.constantFrom(...names.map((n) => `u${n}`)),
    isSuppressed: fc.boolean(),
  });
  const seen = async (store: PostgresVisitorStore) =>
    (await lookUpEach(store)).map((outcome) => [
      idOf(outcome),
      outcome?.kind === 'resolved' && outcome.properties.value,
    ]);
  // One call for each touch, because an unknown touch in a call affects the touches after it.
  const lookUpEach = (store: PostgresVisitorStore) =>
    Promise.all(looks.map(async (one) => (await store.lookUp([one])).outcomes[0]));
  const looks = (['server', 'public', 'test'] as const).flatMap((trust) =>
    claims.map((one): VisitorTouch => ({ ...touch(account, one), sentWith: trust })),
  );
  const act = async (step: object): Promise<void> => {
    if ('erased' in step) {
      const { erased, isSuppressed } = step as { erased: string; isSuppressed: boolean };
      // An event received in the same millisecond would count as earlier.
      if ((await eraseFor(pool, { accountId: account, id: erased, isSuppressed })).length > 0) await nextMillisecond();
    } else {
      const { by, claim: named, given: properties, sentWith: trust } = step as Written;
      if (named.userId === undefined && named.externalIds.length + named.emails.length === 0) return;
      // An identifier is a property, too.
      const layers = named.externalIds.map((id): JsonObject => ({ external_id: id }));
      const event = { ...touch(account, named, ...layers, properties), sentWith: trust };
      await (warm[by] ?? createVisitorStore(pool)).resolve([event]);
    }
  };
  // After a step that is missed, the stores have been idle for so long that they read no changes.
  const step = fc.record({ act: fc.oneof({ weight: 4, arbitrary: write }, erase), isMissed: fc.boolean() });
  const clock = performance.now.bind(performance);
  let idleMs = 0;
  const now = vi.spyOn(performance, 'now').mockImplementation(() => clock() + idleMs);
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        await pool.query('delete from visitors where account_id = $1', [account]);
        await pool.query('delete from visitor_identities where account_id = $1', [account]);
        await pool.query('delete from erasures where account_id = $1', [account]);
        for (const { act: done, isMissed } of steps) {
          await act(done);
          if (isMissed) idleMs += 61_000;
          const expected = await seen(createVisitorStore(pool));
          for (const store of warm) expect(await seen(store)).toEqual(expected);
        }
      }),
      { numRuns: 15 },
    );
  } finally {
    now.mockRestore();
  }
});

test('visitor store: while changes are not recorded, visitors are always confirmed; once changes are recorded, the store follows them', async () => {
  const bare = await createDatabase();
  await migrate(bare.url);
  const own = openTestPool(bare.url, 3);
  try {
    await own.query('alter table visitor_changes rename to hidden');
    await own.query('alter table visitors disable trigger user');
    const [one, two] = [createVisitorStore(own), createVisitorStore(own)];
    const account = randomUUID();
    const u = touch(account, { userId: 'u' });
    await one.resolve([u]);
    for (const city of ['Oslo', 'Rome']) {
      await two.resolve([touch(account, { userId: 'u' }, { city })]);
      expect((await one.lookUp([u])).outcomes).toMatchObject([{ properties: { value: { city } } }]);
    }
    await expect(one.forgetOldChanges()).resolves.toBeUndefined();
    expect(one.cache.hits).toBe(0);
    await own.query('alter table hidden rename to visitor_changes');
    await own.query('alter table visitors enable trigger user');
    await one.lookUp([u]);
    await one.lookUp([u]);
    expect(one.cache.hits).toBe(1);
    await two.resolve([touch(account, { userId: 'u' }, { city: 'Bergen' })]);
    expect((await one.lookUp([u])).outcomes).toMatchObject([{ properties: { value: { city: 'Bergen' } } }]);
  } finally {
    await own.end();
    await bare.drop();
  }
});

test('visitor store: changes are deleted once every live reader has read them; changes from another server regardless of readers', async () => {
  const account = randomUUID();
  const store = createVisitorStore(pool);
  const now = vi.spyOn(performance, 'now');
  let atMs = Math.ceil(performance.now());
  const minutesLater = async (minutes: number): Promise<void> => {
    atMs += minutes * 60_000;
    now.mockImplementation(() => atMs);
    await store.forgetOldChanges();
  };
  const noted = async (): Promise<string[]> => {
    const sql = 'select c.ids[1] as id from visitor_changes c where c.account_ids[1] = $1 order by 1';
    return (await pool.query<{ id: string }>(sql, [account])).rows.map(({ id }) => id);
  };
  const change = async (id: string) => {
    await store.resolve([touch(account, { userId: id })]);
    await store.resolve([touch(account, { userId: id }, { city: 'Oslo' })]);
  };
  try {
    await change('a');
    await pool.query(
      `insert into visitor_changes (xid, account_ids, ids, versions) values ('9000000000000', array[$1::uuid], '{restored}', '{1}')`,
      [account],
    );
    await minutesLater(0);
    await change('b');
    await minutesLater(4);
    expect(await noted()).toEqual(['a', 'b', 'restored']);
    await minutesLater(1);
    const left = await noted();
    expect(left).toContain('b');
    expect(left).not.toContain('restored');
    // Changes stay while open transactions of any database of the server might not have seen them.
    await vi.waitFor(async () => {
      await minutesLater(6);
      expect(await noted()).toEqual([]);
    }, waiting);
    // A store that has not checked for changes for so long trusts no cache entry.
    await pool.query('update visitors set version = version + 1 where account_id = $1', [account]);
    const { confirmed } = store.cache;
    await store.lookUp([touch(account, { userId: 'a' })]);
    expect(store.cache.confirmed).toBe(confirmed + 1);
  } finally {
    now.mockRestore();
  }
});

const plansMade = [
  { when: 'the tables are empty', first: 0 },
  // The state after an analysis of small tables: the planner expects one visitor per account.
  { when: 'each account has one visitor', first: 50 },
];

test.each(plansMade)('visitor store: plans made while $when read only a few rows of full tables', async (plan) => {
  const account = randomUUID();
  const bare = await createDatabase({ hasTwins: false });
  await migrate(bare.url);
  const fresh = openTestPool(bare.url, 1);
  const writer = openTestPool(bare.url, 5);
  const endTransaction = await beginElsewhere();
  const filled = Array.from({ length: 2_000 }, (_, n) => touch(account, { externalIds: [`x-${n}`], emails: [] }));
  try {
    const first = Array.from({ length: plan.first }, () => touch(randomUUID(), { userId: 'u', externalIds: ['x'] }));
    await createVisitorStore(writer).resolve(first);
    if (plan.first > 0) await fresh.query('analyze visitors, visitor_identities');
    const store = createVisitorStore(fresh);
    await store.resolve([touch(account, { userId: 'u', externalIds: ['x'] })]);
    await store.resolve([touch(account, { userId: 'u', externalIds: ['x'] }, { city: 'Oslo' })]);
    await store.resolve([touch(account, { userId: 'w' })]);
    await store.resolve([touch(account, { userId: 'w', externalIds: ['x'] })]);
    await createVisitorStore(writer).resolve(filled);
    await selectAccountErasures(fresh, new Set([account]));
    await selectErasures(fresh, [{ accountId: account, kind: 'visitor', value: 'u' }]);
    await writer.query(
      `insert into erasures (account_id, hash, erased_at)
        select $1, sha256(n::text::bytea), now() - n * interval '1 s' from generate_series(1, 2000) as n`,
      [account],
    );
    const [accounts, ids] = [`'{${account},${account}}'`, `'{u,missing}'`];
    for (let n = 0; n < 50; n += 1)
      await writer.query('update visitors set version = version + 1 where id = $1', ['u']);
    const later = await snapshotOfOwn(fresh);
    await writer.query('update visitors set version = version + 1 where id = $1', ['u']);
    const statements = [
      `"select-visitor-changes"('${later}', 501)`,
      `"select-visitors"(${accounts}, ${ids}, '{null,null}', '{null,null}')`,
      `"select-identities"(${accounts}, '{external_id,external_id}', '{x,x-7}')`,
      `"select-account-erasures"(${accounts})`,
      `"select-erasures"(${accounts}, '{visitor,visitor}', ${ids})`,
      `"insert-visitors"(${accounts}, '{u,new}', E'{}\\n{}', '{null,null}', '{null,null}', '{0,0}', '{null,null}', '{1,1}', '{0,0}', '{0,0}', '{null,null}')`,
      `"insert-identities"(${accounts}, '{external_id,external_id}', '{x,new}', ${ids})`,
      `"update-visitors"(${accounts}, ${ids}, '{2,1}', E'{}\\n{}', '{null,null}', '{null,null}', '{0,0}', '{null,null}', '{1,1}', '{0,0}', '{0,0}', '{null,null}')`,
      `"insert-merges"('{${account}}', '{${randomUUID()}}', '{u}', '{w}', '{"{}"}', null, '{0}', '{[]}', null, '{0}', null, '{"{}"}', null, null, null)`,
      `"trim-merges"('{${account}}', '{u}')`,
    ];
    for (const statement of statements) {
      expect([statement, await rowsLookedAt(fresh, statement)]).toEqual([statement, expect.toSatisfy(isFew)]);
    }
  } finally {
    await Promise.all([fresh.end(), writer.end()]);
    await endTransaction();
    await bare.drop();
  }
});

/** Begins a transaction in another database of the server, as other test files do; returns a function that ends it. */
async function beginElsewhere(): Promise<() => Promise<void>> {
  const other = await createDatabase();
  const client = new pg.Client({ connectionString: other.url });
  await client.connect();
  await client.query('begin');
  await client.query('select pg_current_xact_id()');
  return async () => {
    await client.end();
    await other.drop();
  };
}

const isFew = (rows: number): boolean => rows < 20;

/**
 * The snapshot that PostgreSQL would take now if no transaction were open. The actual one reaches back to the server's
 * oldest transaction, which is often in the database of another test.
 */
async function snapshotOfOwn(db: Pool): Promise<string> {
  const { rows } = await db.query<{ next: string }>(`select (pg_current_xact_id()::text::bigint + 1)::text as next`);
  const next = rows[0]?.next ?? '';
  return `${next}:${next}:`;
}
