import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { encodeResolved } from '../../../shared/contracts/events/resolved-event.ts';
import { countWaiting } from '../../../shared/nats/consume/unfinished-messages.ts';
import { inTransaction } from '../../../shared/postgres/in-transaction.ts';
import { eraseVisitorRows } from '../../../shared/visitors/find-visitor.ts';
import { createVisitorStore } from '../../../shared/visitors/postgres-visitor-store.ts';
import type { VisitorClaim } from '../../../shared/visitors/visitor-identity.ts';
import type { VisitorStore } from '../../../shared/visitors/visitor-store.ts';
import { recorderConsumer } from './recorder-context.ts';
import { defaultsOf } from '../../../shared/runtime/env.ts';
import { readRecentSettings, recentEnv } from './recent-settings.ts';
import { createRecentRig } from './testing/recent-rig.ts';
import { frameOfLines, resolvedEvent } from './testing/resolved.ts';
import { client } from '../../../shared/nats/connection/client.ts';

let rig: Awaited<ReturnType<typeof createRecentRig>>;
let visitors: VisitorStore;
let account: string;

beforeAll(async () => {
  rig = await createRecentRig();
  visitors = createVisitorStore(rig.pool);
});
beforeEach(() => {
  account = randomUUID();
});
afterEach(() => rig.stopRecorders());
afterAll(() => rig?.close());

const within = { timeout: 45_000, interval: 20 };
const idsOf = async (accountId: string): Promise<string[]> => (await rig.rows(accountId)).map(({ id }) => id);
const names = (count: number, prefix = 'e'): string[] =>
  Array.from({ length: count }, (_, n) => `${prefix}${String(n).padStart(4, '0')}`);
const consumer = recorderConsumer(readRecentSettings(defaultsOf(recentEnv)).events);
const allTaken = (): Promise<void> =>
  vi.waitFor(async () => {
    const info = await rig.connection[client].jsm.consumers.info(consumer.stream, consumer.name);
    expect(info.num_pending + info.num_ack_pending).toBe(0);
  }, within);
const claim = (userId: string, externalIds: readonly string[] = []): VisitorClaim => ({
  userId,
  externalIds,
  emails: [],
  anonymousId: undefined,
});

test('recorder: an event is in the view with all it says', async () => {
  const event = resolvedEvent(account, { id: 'e1', event: 'Order', test: true, version_number: 3 });
  await rig.send(account, [event]);
  const recorder = await rig.start();
  await vi.waitFor(async () => expect(await rig.rows(account)).toHaveLength(1), within);
  const [row] = await rig.rows(account);
  expect(row).toMatchObject({
    id: 'e1',
    name: 'Order',
    visitor_id: 'visitor-1',
    test: true,
    version_number: 3,
    body: { event_properties: { plan: 'free' }, visitor: event.visitor },
  });
  expect(recorder.stats()).toMatchObject({ recorded: 1, skipped_sampled: 0 });
});

test('recorder: an event that comes twice is there once, as it came first', async () => {
  const recorder = await rig.start();
  await rig.send(account, [resolvedEvent(account, { id: 'e1', event: 'First' })]);
  await rig.send(account, [
    resolvedEvent(account, { id: 'e1', event: 'Second' }),
    resolvedEvent(account, { id: 'e2' }),
  ]);
  await vi.waitFor(async () => expect(await idsOf(account)).toHaveLength(2), within);
  expect((await rig.rows(account)).find(({ id }) => id === 'e1')?.name).toBe('First');
  expect(recorder.stats()['not_needed']).toBe(1);
});

test('recorder: the same id in two accounts is two events', async () => {
  const other = randomUUID();
  await rig.start();
  await rig.send(account, [resolvedEvent(account, { id: 'same' })]);
  await rig.send(other, [resolvedEvent(other, { id: 'same' })]);
  await vi.waitFor(async () => expect(await idsOf(other)).toEqual(['same']), within);
  await vi.waitFor(async () => expect(await idsOf(account)).toEqual(['same']), within);
});

test('recorder: what cannot be read or stored is left out alone', async () => {
  const lines = [
    encodeResolved(resolvedEvent(account, { id: 'a' })),
    'no json at all',
    encodeResolved(resolvedEvent('no-uuid', { id: 'b' })),
    encodeResolved(resolvedEvent(account, { id: 'c\0', event_properties: { 'x\0': '\ud800' } })),
    encodeResolved(resolvedEvent(account, { id: randomBytes(9_000).toString('hex') })),
    encodeResolved(resolvedEvent(account, { id: 'd' })),
  ];
  const recorder = await rig.start();
  await rig.sendBytes(account, frameOfLines(lines));
  await vi.waitFor(async () => expect(await idsOf(account)).toHaveLength(3), within);
  expect((await idsOf(account)).sort()).toEqual(['a', 'c', 'd']);
  await allTaken();
  expect(recorder.stats()).toMatchObject({ recorded: 3, unreadable: 1, refused: 2 });
});

test('recorder: an account that floods gets a sample, the others and test events all of theirs', async () => {
  const other = randomUUID();
  const flood = names(3_000).map((id) => resolvedEvent(account, { id }));
  const tests = names(10, 't').map((id) => resolvedEvent(account, { id, test: true }));
  const recorder = await rig.start({ perSecondMax: 1, burstMax: 100 });
  await rig.send(account, flood.slice(0, 1_500));
  await rig.send(account, [...flood.slice(1_500), ...tests]);
  await rig.send(other, [resolvedEvent(other, { id: 'alone' })]);
  await vi.waitFor(async () => expect(await idsOf(other)).toEqual(['alone']), within);
  await allTaken();
  const rows = await rig.rows(account);
  expect(rows.filter((row) => row.test)).toHaveLength(10);
  const kept = rows.filter((row) => !row.test).length;
  expect(kept).toBeGreaterThan(50);
  expect(kept).toBeLessThanOrEqual(110);
  expect(recorder.stats()['skipped_sampled']).toBe(3_000 - kept);
});

test('recorder: while the database is away the log holds what comes', async () => {
  const admin = new pg.Client({ connectionString: rig.databaseUrl.replace(/\/[^/]+$/, '/postgres') });
  const database = new URL(rig.databaseUrl).pathname.slice(1);
  await admin.connect();
  const recorder = await rig.start();
  await admin.query(`alter database "${database}" with allow_connections false`);
  await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database]);
  try {
    for (const id of names(50)) await rig.send(account, [resolvedEvent(account, { id })]);
    await vi.waitFor(() => expect(recorder.stats()['insert_retries']).toBeGreaterThan(2), within);
  } finally {
    await admin.query(`alter database "${database}" with allow_connections true`);
    await admin.end();
  }
  await vi.waitFor(async () => expect((await idsOf(account)).sort()).toEqual(names(50)), within);
  expect(recorder.stats()).toMatchObject({ skipped_behind: 0, recorded: 50 });
});

test('recorder: too far behind it leaves events out and goes on with the newest', async () => {
  await rig.start();
  await rig.stopRecorders();
  for (const id of names(40)) await rig.send(account, [resolvedEvent(account, { id })]);
  const recorder = await rig.start({ behindMaxMs: 0, behindFramesMax: 5 });
  await vi.waitFor(async () => expect(await idsOf(account)).toEqual(names(40).slice(-6)), within);
  expect(recorder.stats()['skipped_behind']).toBe(34);
});

test('recorder: a view that cannot be written does not hold up the log for ever', async () => {
  await rig.start();
  await rig.stopRecorders();
  await rig.pool.query('alter table recent_events rename to recent_events_away');
  try {
    for (const id of names(60)) await rig.send(account, [resolvedEvent(account, { id })]);
    const recorder = await rig.start({ behindMaxMs: 0, behindFramesMax: 3, framesPerTake: 8 });
    await vi.waitFor(() => expect(recorder.stats()['skipped_behind']).toBeGreaterThanOrEqual(50), within);
    // What is left out is counted a moment before it is acknowledged.
    await vi.waitFor(async () => expect(await countWaiting(rig.connection, consumer)).toBeLessThanOrEqual(3), within);
  } finally {
    await rig.pool.query('alter table recent_events_away rename to recent_events');
  }
  await vi.waitFor(async () => expect(await idsOf(account)).toContain(names(60).at(-1)), within);
});

test('recorder: an event of an erased visitor that comes late is not recorded, not even under an alias', async () => {
  const [older, younger] = [`older-${account}`, `younger-${account}`];
  await visitors.resolve([{ accountId: account, claim: claim(older, ['customer-1']), given: [] }]);
  await visitors.resolve([{ accountId: account, claim: claim(younger), given: [] }]);
  await visitors.resolve([{ accountId: account, claim: claim(younger, ['customer-1']), given: [] }]);
  expect((await visitors.find(account, { id: younger }))?.id).toBe(older);
  const erased = await inTransaction(rig.pool, (client) => eraseVisitorRows(client, account, younger));
  expect(erased.toSorted()).toEqual([older, younger]);

  const of = (id: string) => ({ visitor: { id, custom_properties: {} } });
  const recorder = await rig.start();
  await rig.send(account, [
    resolvedEvent(account, { id: 'late', ...of(older) }),
    resolvedEvent(account, { id: 'late-alias', ...of(younger) }),
    resolvedEvent(account, { id: 'somebody-else', ...of('another') }),
  ]);
  await vi.waitFor(async () => expect(await idsOf(account)).toEqual(['somebody-else']), within);
  expect(recorder.stats()['not_needed']).toBe(2);
  const late = await visitors.resolve([{ accountId: account, claim: claim(older, ['customer-1']), given: [] }]);
  expect(late.outcomes).toEqual([{ kind: 'erased' }]);
  expect(await visitors.find(account, { externalId: 'customer-1' })).toBeUndefined();
});

test('trim: the events received last stay, whenever they say they happened', async () => {
  const nowMs = Date.now();
  const [first, second] = [names(120, 'a'), names(30, 'b')];
  await rig.start({ eventsMax: 50, trimEveryMs: 100 });
  await rig.send(
    account,
    first.map((id, n) => resolvedEvent(account, { id, received_at: nowMs - 60_000 + n, time: nowMs })),
  );
  const dayMs = 86_400_000;
  await rig.send(
    account,
    second.map((id, n) => resolvedEvent(account, { id, received_at: nowMs + n, time: nowMs - 3 * dayMs })),
  );
  const stay = [...first.slice(-20), ...second];
  // Those of the first frame may be trimmed before the second one is recorded.
  await vi.waitFor(async () => expect((await idsOf(account)).sort()).toEqual(stay), within);
});

test('trim: events leave at their age, in every account', async () => {
  const other = randomUUID();
  const old = { received_at: Date.now() - 600_000, time: Date.now() };
  await rig.send(account, [resolvedEvent(account, { id: 'old', ...old }), resolvedEvent(account, { id: 'new' })]);
  await rig.send(other, [resolvedEvent(other, { id: 'old', ...old })]);
  const recorder = await rig.start();
  await vi.waitFor(() => expect(recorder.stats()['recorded']).toBe(3), within);
  await rig.stopRecorders();
  await rig.start({ ageMaxMs: 300_000, trimEveryMs: 50 });
  await vi.waitFor(async () => expect([await idsOf(other), await idsOf(account)]).toEqual([[], ['new']]), within);
});

test('recorder: stop hands back what it has not written, in time, while the database is away', async () => {
  await rig.pool.query('alter table recent_events rename to recent_events_away');
  try {
    const recorder = await rig.start();
    await rig.send(account, [resolvedEvent(account, { id: 'e1' })]);
    await vi.waitFor(() => expect(recorder.stats()['insert_retries']).toBeGreaterThan(0), within);
    await recorder.stop(200);
    await recorder.done;
  } finally {
    await rig.pool.query('alter table recent_events_away rename to recent_events');
  }
  await rig.start();
  await vi.waitFor(async () => expect(await idsOf(account)).toEqual(['e1']), within);
});
