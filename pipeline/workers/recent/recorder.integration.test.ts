import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { encodeResolved } from '../../../shared/contracts/events/resolved-event.ts';
import { eraseFor } from '../../../shared/testing/visitors.ts';
import { createVisitorStore } from '../../../shared/visitors/postgres-visitor-store.ts';
import type { VisitorClaim } from '../../../shared/visitors/visitor-identity.ts';
import type { VisitorStore } from '../../../shared/visitors/visitor-store.ts';
import { client } from '../../../shared/nats/connection/client.ts';
import { readPlace } from './recent-places.ts';
import { forceIndexScans } from '../../../shared/postgres/force-index-scans.ts';
import { exchangesStatement } from './trimmer.ts';
import { createRecentRig } from './testing/recent-rig.ts';
import type { TestRecorder } from './testing/recent-rig.ts';
import { frameOfLines, resolvedEvent } from './testing/resolved.ts';

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
afterEach(() => rig.closeAll());
afterAll(() => rig?.close());

const within = { timeout: 45_000, interval: 20 };
const idsOf = async (accountId: string): Promise<string[]> => (await rig.rows(accountId)).map(({ id }) => id);
const names = (count: number, prefix = 'e'): string[] =>
  Array.from({ length: count }, (_, n) => `${prefix}${String(n).padStart(4, '0')}`);
const allWritten = (recorder: TestRecorder): Promise<void> =>
  vi.waitFor(() => expect(recorder.stats()['recent_bytes_waiting']).toBe(0), within);
/** Waits for the counts: a row is in the view a moment before the recorder counts it. */
const counts = (recorder: TestRecorder, counted: Readonly<Record<string, number>>): Promise<void> =>
  vi.waitFor(() => expect(recorder.stats()).toMatchObject(counted), within);
const claim = (userId: string, externalIds: readonly string[] = []): VisitorClaim => ({
  userId,
  externalIds,
  emails: [],
  anonymousId: undefined,
});

test('recorder: an event is in the view with all its fields', async () => {
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
  await counts(recorder, { recent_recorded: 1, recent_skipped_sampled: 0 });
});

test('recorder: an event that arrives twice is recorded once, as it first arrived', async () => {
  const recorder = await rig.start();
  await rig.send(account, [resolvedEvent(account, { id: 'e1', event: 'First' })]);
  await rig.send(account, [
    resolvedEvent(account, { id: 'e1', event: 'Second' }),
    resolvedEvent(account, { id: 'e2' }),
  ]);
  await vi.waitFor(async () => expect(await idsOf(account)).toHaveLength(2), within);
  expect((await rig.rows(account)).find(({ id }) => id === 'e1')?.name).toBe('First');
  await counts(recorder, { recent_not_needed: 1 });
});

test('recorder: a live event replaces a test event with the same id, but a test event never replaces a live one', async () => {
  const recorder = await rig.start();
  const tried = (id: string) => resolvedEvent(account, { id, event: 'Tried', test: true });
  const live = (id: string) => resolvedEvent(account, { id, event: 'Live' });
  await rig.send(account, [tried('e1'), live('e2'), tried('e3'), live('e3'), live('e4'), tried('e4')]);
  await vi.waitFor(async () => expect(await idsOf(account)).toHaveLength(4), within);
  await rig.send(account, [live('e1'), tried('e2')]);
  await allWritten(recorder);
  const rows = await rig.rows(account);
  expect(rows.map(({ name, test: isTest }) => [name, isTest])).toEqual(rows.map(() => ['Live', false]));
});

test('order of effects: the position of the view moves only once it has the events', async () => {
  const place = async (partition: number): Promise<number> => (await readPlace(rig.pool, partition)) ?? 0;
  const recorder = await rig.start();
  await rig.send(account, [resolvedEvent(account, { id: 'e1' })]);
  await vi.waitFor(async () => expect(await idsOf(account)).toEqual(['e1']), within);
  const before = await place(0);
  const holder = await rig.pool.connect();
  await holder.query('begin; lock table recent_events in access exclusive mode');
  await rig.send(account, [resolvedEvent(account, { id: 'e2' })]);
  const closed = recorder.close();
  // By the time another recorder has started and ended, all steps that do not wait for the lock are done.
  await (await rig.start({}, { partition: 1, partitions: 2 })).close();
  expect(await place(1)).toBeGreaterThan(before);
  expect(await place(0)).toBe(before);
  await holder.query('commit');
  holder.release();
  await closed;
  expect(await place(0)).toBeGreaterThan(before);
  expect(await idsOf(account)).toEqual(['e1', 'e2']);
});

test('recorder: if the log does not answer at the start, missing and later events are in the view once it answers', async () => {
  await rig.send(account, [resolvedEvent(account, { id: 'e1' })]);
  const { consumers } = rig.connection[client].jsm;
  const addConsumer = vi.spyOn(consumers, 'add').mockImplementationOnce(() => {
    // As if the log had been silent for longer than its reader waits.
    const nowMs = performance.now();
    vi.spyOn(performance, 'now').mockReturnValue(nowMs + 60_000);
    return Promise.reject(new Error('the log does not answer'));
  });
  onTestFinished(() => void vi.restoreAllMocks());
  await rig.start();
  await vi.waitFor(() => expect(addConsumer).toHaveBeenCalledTimes(2), within);
  vi.restoreAllMocks();
  await rig.send(account, [resolvedEvent(account, { id: 'e2' })]);
  await vi.waitFor(async () => expect(await idsOf(account)).toEqual(['e1', 'e2']), within);
});

test('recorder: the same id in two accounts is two events', async () => {
  const other = randomUUID();
  await rig.start();
  await rig.send(account, [resolvedEvent(account, { id: 'same' })]);
  await rig.send(other, [resolvedEvent(other, { id: 'same' })]);
  await vi.waitFor(async () => expect(await idsOf(other)).toEqual(['same']), within);
  await vi.waitFor(async () => expect(await idsOf(account)).toEqual(['same']), within);
});

test('recorder: an event that cannot be read or stored is left out, and the others of its frame are recorded', async () => {
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
  await allWritten(recorder);
  expect(recorder.stats()).toMatchObject({ recent_recorded: 3, recent_unreadable: 1, recent_refused: 2 });
});

test('recorder: an account over its rate has a sample and all test events recorded, and other accounts have all events recorded', async () => {
  const other = randomUUID();
  const flood = names(3_000).map((id) => resolvedEvent(account, { id }));
  const tests = names(10, 't').map((id) => resolvedEvent(account, { id, test: true }));
  const recorder = await rig.start({ perSecondMax: 1, burstMax: 100 });
  await rig.send(account, flood.slice(0, 1_500));
  await rig.send(account, [...flood.slice(1_500), ...tests]);
  await rig.send(other, [resolvedEvent(other, { id: 'alone' })]);
  await vi.waitFor(async () => expect(await idsOf(other)).toEqual(['alone']), within);
  await allWritten(recorder);
  const rows = await rig.rows(account);
  expect(rows.filter((row) => row.test)).toHaveLength(10);
  const kept = rows.filter((row) => !row.test).length;
  expect(kept).toBeGreaterThan(50);
  expect(kept).toBeLessThanOrEqual(110);
  expect(recorder.stats()['recent_skipped_sampled']).toBe(3_000 - kept);
});

test('recorder: events wait while the database is away, and all are recorded once it is back', async () => {
  const admin = new pg.Client({ connectionString: rig.databaseUrl.replace(/\/[^/]+$/, '/postgres') });
  const database = new URL(rig.databaseUrl).pathname.slice(1);
  await admin.connect();
  const recorder = await rig.start();
  await admin.query(`alter database "${database}" with allow_connections false`);
  await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database]);
  try {
    for (const id of names(50)) await rig.send(account, [resolvedEvent(account, { id })]);
    await vi.waitFor(() => expect(recorder.stats()['recent_insert_retries']).toBeGreaterThan(2), within);
  } finally {
    await admin.query(`alter database "${database}" with allow_connections true`);
    await admin.end();
  }
  await vi.waitFor(async () => expect((await idsOf(account)).sort()).toEqual(names(50)), within);
  await counts(recorder, { recent_skipped_behind: 0, recent_recorded: 50 });
});

test('recorder: above the limit of waiting bytes, events are skipped and counted, and later events are recorded', async () => {
  const recorder = await rig.start({ waitingBytesMax: 4_096 });
  await rig.pool.query('alter table recent_events rename to recent_events_away');
  try {
    for (const id of names(60)) await rig.send(account, [resolvedEvent(account, { id })]);
    expect(recorder.stats()['recent_skipped_behind']).toBeGreaterThan(40);
    expect(recorder.stats()['recent_bytes_waiting']).toBeLessThanOrEqual(4_096);
  } finally {
    await rig.pool.query('alter table recent_events_away rename to recent_events');
  }
  await vi.waitFor(() => expect(recorder.stats()['recent_bytes_waiting']).toBe(0), within);
  await rig.send(account, [resolvedEvent(account, { id: 'newest' })]);
  await vi.waitFor(async () => expect(await idsOf(account)).toContain('newest'), within);
  await vi.waitFor(() => {
    const { recent_recorded: recorded = 0, recent_skipped_behind: skipped = 0 } = recorder.stats();
    expect(recorded + skipped).toBe(61);
  }, within);
});

test('recorder: a start after a crash records the events that were not written, and none a second time', async () => {
  const first = await rig.start();
  await rig.send(account, [resolvedEvent(account, { id: 'written' })]);
  await vi.waitFor(async () => expect(await idsOf(account)).toEqual(['written']), within);
  await first.close();
  const second = await rig.start({ lingerMs: 60_000 });
  for (const id of names(40)) await rig.send(account, [resolvedEvent(account, { id })]);
  await second.abort();
  expect(await idsOf(account)).toEqual(['written']);
  // All events together need more room than this, so they arrive a few at a time.
  const third = await rig.start({ waitingBytesMax: 4_096 });
  await vi.waitFor(async () => expect((await idsOf(account)).toSorted()).toEqual([...names(40), 'written']), within);
  await third.close();
  expect(third.stats()).toMatchObject({ recent_recorded: 40, recent_caught_up_frames: 40, recent_skipped_behind: 0 });
  const fourth = await rig.start();
  await fourth.close();
  expect(fourth.stats()['recent_caught_up_frames']).toBe(0);
});

test('recorder: a start reads at most caughtUpFramesMax frames of the log', async () => {
  const [older, newer] = [names(20, 'a'), names(5, 'b')];
  for (const id of [...older, ...newer]) await rig.send(account, [resolvedEvent(account, { id })]);
  await rig.pool.query('delete from recent_places');
  const recorder = await rig.start({ caughtUpFramesMax: 5 });
  await vi.waitFor(async () => expect(await idsOf(account)).toEqual(newer), within);
  await recorder.close();
  expect(recorder.stats()['recent_caught_up_frames']).toBe(5);
});

test('recorder: a late event of an erased visitor is not recorded, not even under an alias', async () => {
  const [older, younger, youngest] = [`older-${account}`, `younger-${account}`, `youngest-${account}`];
  const touches = [
    claim(older, ['customer-1']),
    claim(younger, ['customer-2']),
    claim(youngest),
    claim(youngest, ['customer-2']),
    { ...claim(younger), userId: undefined, externalIds: ['customer-2', 'customer-1'], isAlias: true },
  ];
  for (const made of touches) {
    await visitors.resolve([
      { accountId: account, claim: made, receivedAtMs: Date.now(), given: [], sentWith: 'server' },
    ]);
  }
  expect((await visitors.find(account, { id: younger }))?.id).toBe(older);
  const before = { received_at: Date.now() };
  const erased = await eraseFor(rig.pool, { accountId: account, id: younger });
  const after = { received_at: Date.now() + 1 };
  expect(erased.toSorted()).toEqual([older, younger, youngest]);

  const of = (id: string) => ({ visitor: { id, custom_properties: {} } });
  const recorder = await rig.start();
  await rig.send(account, [
    resolvedEvent(account, { id: 'late', ...of(older), ...before }),
    resolvedEvent(account, { id: 'late-alias', ...of(younger), ...before }),
    resolvedEvent(account, { id: 'late-alias-of-alias', ...of(youngest), ...before }),
    resolvedEvent(account, { id: 'another-visitor', ...of('another') }),
    resolvedEvent(account, { id: 'who-came-back', ...of(older), ...after }),
  ]);
  const recorded = async (): Promise<string[]> => (await idsOf(account)).toSorted();
  await vi.waitFor(async () => expect(await recorded()).toEqual(['another-visitor', 'who-came-back']), within);
  await counts(recorder, { recent_not_needed: 3 });
});

test('trim: the most recently received events stay, whatever time they report', async () => {
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
  // Events of the first frame may be trimmed before the second frame is recorded.
  await vi.waitFor(async () => expect((await idsOf(account)).sort()).toEqual(stay), within);
});

test('trim: each partition enforces the row limit for the accounts it writes to; only the first partition removes rows by age', async () => {
  const [first, second] = [names(30, 'a'), names(30, 'b')];
  const old = { received_at: Date.now() - 600_000, time: Date.now() };
  await rig.start({ eventsMax: 50, ageMaxMs: 300_000, trimEveryMs: 50 }, { partition: 1, partitions: 2 });
  await rig.send(
    account,
    first.map((id) => resolvedEvent(account, { id, ...old })),
  );
  await vi.waitFor(async () => expect((await idsOf(account)).toSorted()).toEqual(first), within);
  await rig.send(
    account,
    second.map((id) => resolvedEvent(account, { id })),
  );
  await vi.waitFor(
    async () => expect((await idsOf(account)).toSorted()).toEqual([...first.slice(10), ...second]),
    within,
  );
});

test('recorder: the partitions share the rate of an account', async () => {
  const flood = names(3_000).map((id) => resolvedEvent(account, { id }));
  const recorder = await rig.start({ perSecondMax: 2_000, burstMax: 100 }, { partition: 0, partitions: 1_000 });
  for (let start = 0; start < flood.length; start += 500) await rig.send(account, flood.slice(start, start + 500));
  await recorder.close();
  // Only the burst counts: at a thousandth of the rate the bucket hardly refills during a test.
  const kept = (await rig.rows(account)).length;
  expect(kept).toBeGreaterThan(50);
  expect(kept).toBeLessThanOrEqual(110);
});

test('trim: an account keeps the newest failed requests, found by an index, and every outcome', async () => {
  await rig.send(
    account,
    names(5).map((id) => resolvedEvent(account, { id })),
  );
  await rig.start();
  await vi.waitFor(async () => expect(await idsOf(account)).toHaveLength(5), within);
  await rig.pool.query(
    `insert into event_outcomes (account_id, event_id, origin, destination_id, outcome, attempts, at, answer, exchange)
      select account_id, id, origin, 'd1', 'rejected', 1, now() + (right(id, 1) || ' s')::interval, '{"status":400}', '{}'
      from recent_events where account_id = $1`,
    [account],
  );
  await rig.closeAll();
  await rig.start({ exchangesMax: 2, trimEveryMs: 50 });
  const kept = async (): Promise<unknown[]> => {
    const { rows } = await rig.pool.query<{ event_id: string; kept: boolean }>(
      'select event_id, exchange is not null as kept from event_outcomes where account_id = $1 and answer is not null order by at',
      [account],
    );
    return rows.map((row) => row.kept);
  };
  await vi.waitFor(async () => expect(await kept()).toEqual([false, false, false, true, true]), within);
  const client = await rig.pool.connect();
  try {
    await forceIndexScans(client);
    const values = [account, 2];
    const { rows } = await client.query<Record<string, string>>(`explain ${exchangesStatement}`, values);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan.match(/event_outcomes_exchanges/g)).toHaveLength(2);
  } finally {
    client.release(true);
  }
});

test('trim: events are removed at their maximum age, in every account', async () => {
  const other = randomUUID();
  const old = { received_at: Date.now() - 600_000, time: Date.now() };
  await rig.send(account, [resolvedEvent(account, { id: 'old', ...old }), resolvedEvent(account, { id: 'new' })]);
  await rig.send(other, [resolvedEvent(other, { id: 'old', ...old })]);
  const recorder = await rig.start();
  await vi.waitFor(() => expect(recorder.stats()['recent_recorded']).toBe(3), within);
  await rig.closeAll();
  await rig.start({ ageMaxMs: 300_000, trimEveryMs: 50 });
  await vi.waitFor(async () => expect([await idsOf(other), await idsOf(account)]).toEqual([[], ['new']]), within);
});

test('recorder: an abort ends the recorder while the database is away, and the next start records the event', async () => {
  await rig.pool.query('alter table recent_events rename to recent_events_away');
  try {
    const recorder = await rig.start();
    await rig.send(account, [resolvedEvent(account, { id: 'e1' })]);
    await vi.waitFor(() => expect(recorder.stats()['recent_insert_retries']).toBeGreaterThan(0), within);
    await recorder.abort();
  } finally {
    await rig.pool.query('alter table recent_events_away rename to recent_events');
  }
  await rig.start();
  await vi.waitFor(async () => expect(await idsOf(account)).toEqual(['e1']), within);
});
