import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { migrate } from '../postgres/migrate.ts';
import { createTestDatabase } from '../testing/servers.ts';
import type { TestDatabase } from '../testing/servers.ts';
import { openTestPool } from '../testing/test-pool.ts';
import { eraseFor } from '../testing/visitors.ts';
import type { AnnouncedErasure } from './erase-visitor.ts';
import { joinVisitors } from './join-visitors.ts';
import { createVisitorStore } from './postgres-visitor-store.ts';
import type { PostgresVisitorStore } from './postgres-visitor-store.ts';
import { splitVisitors } from './split-visitors.ts';
import { memoryTrustedMs } from './trusted-memory.ts';
import type { VisitorTouch } from './visitor-store.ts';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  await migrate(database.url);
  pool = openTestPool(database.url, 8);
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});
afterEach(() => {
  vi.restoreAllMocks();
});

const account = (): string => randomUUID();

type Said = { readonly given?: VisitorTouch['given']; readonly at?: number };

function touch(accountId: string, userId: string, { given = [], at = Date.now() }: Said = {}): VisitorTouch {
  const claim = { userId, externalIds: [], emails: [], anonymousId: undefined };
  return { accountId, claim, receivedAtMs: at, given, sentWith: 'server' };
}

const openStore = (): PostgresVisitorStore => createVisitorStore(pool, { trustedMs: memoryTrustedMs });

const lookUp = async (store: PostgresVisitorStore, ...touches: VisitorTouch[]) =>
  (await store.lookUp(touches)).outcomes;

/** A monotonic clock that moves only when a test moves it. */
function stopClock(): { advance(ms: number): void } {
  let nowMs = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  return { advance: (ms) => void (nowMs += ms) };
}

/** Counts transactions, including single statements. */
async function transactionsOf(work: () => Promise<unknown>): Promise<number> {
  const connect = vi.spyOn(pool, 'connect');
  await work();
  const { length } = connect.mock.calls;
  connect.mockRestore();
  return length;
}

test('trusted memory: single events that add nothing to known visitors cost at most one transaction per 250 ms', async () => {
  const clock = stopClock();
  const [store, own] = [openStore(), account()];
  const at = Date.now();
  const ids = Array.from({ length: 20 }, (_, n) => `u${n}`);
  await store.resolve(ids.map((id) => touch(own, id, { given: [{ city: 'Oslo' }], at })));
  await lookUp(store, ...ids.map((id) => touch(own, id, { at })));
  const oneByOne = async (): Promise<void> => {
    for (const id of ids) {
      expect(await lookUp(store, touch(own, id, { given: [{ city: 'Oslo' }], at }))).toMatchObject([{ id }]);
    }
  };
  expect(await transactionsOf(oneByOne)).toBe(0);
  clock.advance(memoryTrustedMs - 1);
  expect(await transactionsOf(oneByOne)).toBe(0);
  clock.advance(1);
  expect(await transactionsOf(oneByOne)).toBe(1);
});

test('trusted memory: a batch with anything new, or of an unknown visitor, is resolved from what the database has', async () => {
  stopClock();
  const [store, other, own] = [openStore(), createVisitorStore(pool), account()];
  await store.resolve([touch(own, 'u'), touch(own, 'v')]);
  await lookUp(store, touch(own, 'u'));
  await other.resolve([touch(own, 'u', { given: [{ city: 'Rome' }] })]);
  const found = await lookUp(store, touch(own, 'u'), touch(own, 'nobody'));
  expect(found).toMatchObject([undefined, undefined]);
  const { outcomes } = await store.resolve([touch(own, 'v', { given: [{ zip: '0150' }] }), touch(own, 'u')]);
  expect(outcomes).toMatchObject([{ id: 'v' }, { id: 'u', properties: { value: { city: 'Rome' } } }]);
});

test('trusted memory: a process that was suspended does not trust its memory for events received meanwhile', async () => {
  stopClock();
  const [store, other, own] = [openStore(), createVisitorStore(pool), account()];
  await store.resolve([touch(own, 'u')]);
  await lookUp(store, touch(own, 'u'));
  await other.resolve([touch(own, 'u', { given: [{ city: 'Rome' }] })]);
  const later = Date.now() + memoryTrustedMs;
  expect(await lookUp(store, touch(own, 'u', { at: later }))).toMatchObject([
    { properties: { value: { city: 'Rome' } } },
  ]);
});

test('trusted memory: a query that was sent before the memory is distrusted does not restore trust', async () => {
  stopClock();
  const [store, own] = [openStore(), account()];
  await store.resolve([touch(own, 'u')]);
  const asked = lookUp(store, touch(own, 'u'));
  store.distrust();
  await asked;
  expect(await transactionsOf(() => lookUp(store, touch(own, 'u')))).toBe(1);
  expect(await transactionsOf(() => lookUp(store, touch(own, 'u')))).toBe(0);
});

/**
 * Makes a store check for changes right before a commit, so that the store trusts its memory as long as possible after
 * it.
 */
async function trustNow(store: PostgresVisitorStore, ...touches: VisitorTouch[]): Promise<void> {
  store.distrust();
  for (const one of touches) await store.lookUp([one]);
}

test('trusted memory: an event received after the answer to an erasure begins a new visitor', async () => {
  const [store, own] = [openStore(), account()];
  await store.resolve([touch(own, 'u', { given: [{ city: 'Oslo' }] })]);
  const times: number[] = [];
  const announce = async ({ atMs, isAhead }: AnnouncedErasure): Promise<void> => {
    if (isAhead) await trustNow(store, touch(own, 'u'));
    else times.push(atMs);
  };
  await eraseFor(pool, { accountId: own, id: 'u' }, { announce });
  const at = Math.max(...times) + 1;
  const { outcomes } = await store.resolve([touch(own, 'u', { at })]);
  expect(outcomes).toMatchObject([{ kind: 'resolved', id: 'u', created: true, properties: { value: {} } }]);
  // Events received until then belong to the erased visitor.
  expect(await lookUp(store, touch(own, 'u', { at: at - 1 }))).toMatchObject([{ kind: 'erased' }]);
});

test('trusted memory: a merge or split applies to every event received after its answer', async () => {
  const [store, own] = [openStore(), account()];
  await store.resolve([touch(own, 'u', { given: [{ city: 'Oslo' }] })]);
  await store.resolve([touch(own, 'v', { given: [{ zip: '0150' }] })]);
  const audit = (): Promise<void> => trustNow(store, touch(own, 'v'), touch(own, 'u'));
  const cause = { kind: 'api', principal: 'key' } as const;
  const request = { accountId: own, ids: ['u', 'v'], cause, propertiesBytesMax: 32 * 1024 } as const;
  const joined = await joinVisitors(pool, request, audit);
  expect(await lookUp(store, touch(own, 'v'))).toMatchObject([{ id: 'u', properties: { value: { zip: '0150' } } }]);
  const mergeId = joined.kind === 'merged' ? joined.mergeId : '';
  const split = await splitVisitors(pool, { accountId: own, id: 'u', mergeId, undoneBy: 'key' }, audit);
  expect(split).toMatchObject({ kind: 'split' });
  expect(await lookUp(store, touch(own, 'v'))).toMatchObject([{ id: 'v' }]);
});
