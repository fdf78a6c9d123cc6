import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { Exchange } from '../../../shared/contracts/events/exchange.ts';
import { insertRecentEvents } from './write-recent-events.ts';
import { createOutcomeRecorder } from './outcome-recorder.ts';
import type { Outcome, OutcomeRecorder, OutcomeRecorderOptions } from './outcome-recorder.ts';
import { defaultsOf } from '../../../shared/runtime/env.ts';
import { readRecentSettings, recentEnv } from './recent-settings.ts';
import { createRecentRig } from './testing/recent-rig.ts';

let rig: Awaited<ReturnType<typeof createRecentRig>>;
let account: string;
/** When the events of a test happened, in ms since the epoch. */
let nowMs: number;
let recorders: OutcomeRecorder[] = [];

beforeAll(async () => {
  rig = await createRecentRig();
});
beforeEach(() => {
  account = randomUUID();
  nowMs = Date.now();
});
afterEach(async () => {
  await Promise.all(recorders.map((recorder) => recorder.close()));
  recorders = [];
});
afterAll(() => rig?.close());

const within = { timeout: 45_000, interval: 20 };

const usual = readRecentSettings(defaultsOf(recentEnv)).outcomes;

function start(changes: Partial<OutcomeRecorderOptions> = {}): OutcomeRecorder {
  const recorder = createOutcomeRecorder({ pool: rig.pipelinePool, ...usual, flushEveryMs: 20, ...changes });
  recorders.push(recorder);
  return recorder;
}

function addEvents(ids: readonly string[], { sourceId = 's', visitorId = 'v' } = {}): Promise<number> {
  return insertRecentEvents(
    rig.pool,
    ids.map((id) => ({
      accountId: account,
      id,
      timeMs: nowMs,
      receivedAtMs: nowMs,
      sourceId,
      name: 'Signup',
      visitorId,
      test: false,
      versionNumber: undefined,
      plan: undefined,
      sampleOf: 1,
      body: '{}',
    })),
  );
}

const outcomeOf = (eventId: string, changes: Partial<Outcome> = {}): Outcome => ({
  accountId: account,
  eventId,
  sourceId: 's',
  visitorId: 'v',
  destinationId: 'd1',
  outcome: 'delivered',
  attempts: 1,
  versionNumber: 7,
  atMs: nowMs,
  ...changes,
});

async function written(): Promise<unknown[]> {
  const { rows } = await rig.pool.query(
    `select event_id, destination_id, outcome, reason, attempts from event_outcomes where account_id = $1
      order by event_id, destination_id`,
    [account],
  );
  return rows.map((row: Record<string, unknown>) => Object.values(row));
}

test('outcome recorder: an outcome names the version that decided it, or no version if none did', async () => {
  await addEvents(['e1']);
  const versions = async (): Promise<unknown[]> => {
    const { rows } = await rig.pool.query<{ version_number: number | null }>(
      'select version_number from event_outcomes where account_id = $1',
      [account],
    );
    return rows.map((row) => row.version_number);
  };
  const recorder = start();
  for (const [attempts, versionNumber] of [7, 8, undefined].entries()) {
    recorder.record(outcomeOf('e1', { outcome: 'retrying', attempts, versionNumber, atMs: nowMs + attempts }));
    await vi.waitFor(async () => expect(await versions()).toEqual([versionNumber ?? null]), within);
  }
});

test('outcome recorder: a stop by consent records which consent decided, and a later outcome clears the record', async () => {
  await addEvents(['e1']);
  const stored = async (): Promise<unknown> => {
    const { rows } = await rig.pool.query<{ consent: unknown }>(
      'select consent from event_outcomes where account_id = $1',
      [account],
    );
    return rows[0]?.consent;
  };
  const consent = [{ purpose: 'Ads\u0000', isGranted: false, layer: 'default', detail: 'US-CA' }] as const;
  const recorder = start();
  recorder.record(outcomeOf('e1', { outcome: 'stopped', consent }));
  await vi.waitFor(async () => expect(await stored()).toMatchObject([{ isGranted: false, detail: 'US-CA' }]), within);
  recorder.record(outcomeOf('e1', { atMs: nowMs + 1 }));
  await vi.waitFor(async () => expect(await stored()).toBeNull(), within);
});

const exchange: Exchange = {
  request: { method: 'POST', url: 'https://example.com/', headers: {}, body: 'nul \0', events: 1 },
  answer: { status: 400, code: 'no', message: 'it is refused', headers: {}, body: 'it is refused' },
};
const exchanges = async (): Promise<unknown[]> => {
  const { rows } = await rig.pool.query<{ answer: unknown; exchange: unknown }>(
    'select answer, exchange from event_outcomes where account_id = $1 order by event_id',
    [account],
  );
  return rows.map(({ answer, exchange: kept }) => [answer, kept]);
};

test('outcome recorder: a failed request and its answer are kept until another attempt, and deleted with the event', async () => {
  await addEvents(['e1']);
  const recorder = start();
  recorder.record(outcomeOf('e1', { outcome: 'retrying', exchange: { read: () => exchange } }));
  const answer = { status: 400, code: 'no', message: 'it is refused' };
  const stored = { ...exchange, request: { ...exchange.request, body: 'nul ' } };
  await vi.waitFor(async () => expect(await exchanges()).toEqual([[answer, stored]]), within);
  recorder.record(outcomeOf('e1', { attempts: 2, atMs: nowMs + 1 }));
  await vi.waitFor(async () => expect(await exchanges()).toEqual([[null, null]]), within);
  recorder.record(
    outcomeOf('e1', { outcome: 'rejected', attempts: 3, atMs: nowMs + 2, exchange: { read: () => exchange } }),
  );
  await vi.waitFor(async () => expect(await exchanges()).toEqual([[answer, stored]]), within);
  await rig.pool.query('delete from recent_events where account_id = $1', [account]);
  expect(await exchanges()).toEqual([]);
});

test('outcome recorder: if too many failed requests wait, they are dropped and counted, but their outcomes are recorded', async () => {
  await addEvents(['e1', 'e2']);
  const recorder = start({ exchangesWaitingMax: 1, flushEveryMs: 200 });
  for (const id of ['e1', 'e2'])
    recorder.record(outcomeOf(id, { outcome: 'rejected', exchange: { read: () => exchange } }));
  await vi.waitFor(
    async () => expect((await exchanges()).map((row) => (row as unknown[])[1] !== null)).toEqual([true, false]),
    within,
  );
  await vi.waitFor(() => expect(recorder.stats()).toMatchObject({ recorded: 2, exchanges_dropped: 1 }), within);
});

test('outcome recorder: the outcome of an event is recorded for each destination', async () => {
  await addEvents(['e1']);
  const recorder = start();
  recorder.record(outcomeOf('e1'));
  recorder.record(outcomeOf('e1', { destinationId: 'd2', outcome: 'rejected', reason: 'http_400', attempts: 2 }));
  recorder.record(outcomeOf('e1', { destinationId: 'd3', outcome: 'globalStop', attempts: 0 }));
  await vi.waitFor(
    async () =>
      expect(await written()).toEqual([
        ['e1', 'd1', 'delivered', null, 1],
        ['e1', 'd2', 'rejected', 'http_400', 2],
        ['e1', 'd3', 'globalStop', null, 0],
      ]),
    within,
  );
});

test('outcome recorder: the newest outcome stays, in any order and from any recorder', async () => {
  await addEvents(['e1', 'e2']);
  const [first, second] = [start(), start()];
  first.record(outcomeOf('e1', { outcome: 'retrying', reason: 'http_503', attempts: 1, atMs: nowMs }));
  first.record(outcomeOf('e1', { outcome: 'delivered', attempts: 2, atMs: nowMs + 1_000 }));
  first.record(outcomeOf('e2', { outcome: 'delivered', attempts: 3, atMs: nowMs + 2_000 }));
  await vi.waitFor(async () => expect(await written()).toHaveLength(2), within);
  second.record(outcomeOf('e2', { outcome: 'retrying', reason: 'timeout', attempts: 2, atMs: nowMs + 1_000 }));
  second.record(outcomeOf('e1', { outcome: 'retrying', reason: 'http_503', attempts: 1, atMs: nowMs }));
  await vi.waitFor(() => expect(second.stats().recorded).toBe(2), within);
  expect(await written()).toEqual([
    ['e1', 'd1', 'delivered', null, 2],
    ['e2', 'd1', 'delivered', null, 3],
  ]);
});

test('outcome recorder: an outcome that comes before its event waits for it', async () => {
  const recorder = start();
  recorder.record(outcomeOf('later'));
  await vi.waitFor(() => expect(recorder.stats()).toMatchObject({ waiting: 1, recorded: 0 }), within);
  await addEvents(['later']);
  await vi.waitFor(async () => expect(await written()).toEqual([['later', 'd1', 'delivered', null, 1]]), within);
});

test('outcome recorder: an outcome of an event that is not in the view is dropped and counted', async () => {
  const recorder = start({ flushEveryMs: 5, missesMax: 3 });
  recorder.record(outcomeOf('never'));
  await vi.waitFor(() => expect(recorder.stats()).toMatchObject({ dropped_unknown: 1, waiting: 0 }), within);
  expect(await written()).toEqual([]);
});

test('outcome recorder: above the limit of waiting outcomes, the oldest are dropped and counted', async () => {
  const ids = Array.from({ length: 50 }, (_, n) => `e${String(n).padStart(2, '0')}`);
  await addEvents(ids);
  const recorder = start({ waitingMax: 20 });
  for (const id of ids) recorder.record(outcomeOf(id));
  expect(recorder.stats()).toMatchObject({ dropped_full: 30, waiting: 20 });
  await recorder.close();
  expect((await written()).map((row) => (row as unknown[])[0])).toEqual(ids.slice(-20));
});

test('outcome recorder: for a destination over its rate, a sample of the outcomes is recorded', async () => {
  const recorder = start({ perSecondMax: 1, burstMax: 100, flushEveryMs: 60_000 });
  for (let n = 0; n < 5_000; n += 1) recorder.record(outcomeOf(`e${n}`));
  const { dropped_sampled, waiting } = recorder.stats();
  expect(waiting).toBeGreaterThan(50);
  expect(waiting).toBeLessThanOrEqual(100);
  expect(dropped_sampled).toBe(5_000 - waiting);
});

test('outcome recorder: over the rate of a thread the sample has the same events for all destinations', async () => {
  const recorder = start({ ofThread: { perSecondMax: 1, burstMax: 64 }, flushEveryMs: 60_000 });
  const noted = new Map<string, number>();
  for (let event = 0; event < 500; event += 1) {
    for (let destination = 0; destination < 10; destination += 1) {
      const before = recorder.stats().waiting;
      recorder.record(outcomeOf(`e${event}`, { destinationId: `d${destination}` }));
      const after = recorder.stats().waiting;
      noted.set(`e${event}`, (noted.get(`e${event}`) ?? 0) + after - before);
    }
  }
  const { dropped_sampled, waiting } = recorder.stats();
  expect(waiting).toBeLessThanOrEqual(65);
  expect(dropped_sampled).toBe(5_000 - waiting);
  // Sampled by event: nearly every recorded event has an outcome for each destination.
  expect([...noted.values()].filter((outcomes) => outcomes === 10).length).toBeGreaterThan(3);
});

test('outcome recorder: an outcome that the database refuses does not prevent other outcomes from being recorded', async () => {
  await addEvents(['e1', 'e2']);
  const recorder = start();
  recorder.record(outcomeOf('e1'));
  recorder.record(outcomeOf('e1', { accountId: 'no-uuid' }));
  recorder.record(outcomeOf('e2', { reason: 'a\0b' }));
  await vi.waitFor(() => expect(recorder.stats()).toMatchObject({ refused: 1, recorded: 2 }), within);
  expect(await written()).toHaveLength(2);
  expect(await written()).toContainEqual(['e2', 'd1', 'delivered', 'ab', 1]);
});

test('outcome recorder: outcomes written or refused before a database failure are not written or counted again', async () => {
  await addEvents(['e1', 'e2']);
  let connections = 0;
  const pool: OutcomeRecorderOptions['pool'] = Object.create(rig.pipelinePool);
  const connect = (): Promise<unknown> => {
    connections += 1;
    // Connection 1: all outcomes; 2: e1 and the refused one; 3: e1; 4: the refused one; 5: e2.
    return connections === 5 ? Promise.reject(new Error('connect timeout')) : rig.pipelinePool.connect();
  };
  const recorder = start({ pool: Object.assign(pool, { connect }) });
  recorder.record(outcomeOf('e1'));
  recorder.record(outcomeOf('e1', { accountId: 'no-uuid' }));
  recorder.record(outcomeOf('e2'));
  await vi.waitFor(() => expect(recorder.stats().recorded).toBeGreaterThan(1), within);
  expect(recorder.stats()).toMatchObject({ recorded: 2, refused: 1, failed_writes: 1, waiting: 0 });
  expect(await written()).toHaveLength(2);
});

test('outcome recorder: outcomes that cannot be written are written once the database can take them', async () => {
  await addEvents(['e1', 'e2']);
  await rig.pool.query('alter table event_outcomes rename to event_outcomes_away');
  const recorder = start({ outcomesPerWrite: 1 });
  try {
    recorder.record(outcomeOf('e1', { outcome: 'retrying' }));
    recorder.record(outcomeOf('e2'));
    await vi.waitFor(() => expect(recorder.stats().failed_writes).toBeGreaterThan(1), within);
    recorder.record(outcomeOf('e1', { attempts: 2, atMs: nowMs + 1 }));
  } finally {
    await rig.pool.query('alter table event_outcomes_away rename to event_outcomes');
  }
  await vi.waitFor(
    async () =>
      expect(await written()).toEqual([
        ['e1', 'd1', 'delivered', null, 2],
        ['e2', 'd1', 'delivered', null, 1],
      ]),
    within,
  );
});

test('outcome recorder: close writes waiting outcomes', async () => {
  await addEvents(['e1']);
  const recorder = start({ flushEveryMs: 60_000 });
  recorder.record(outcomeOf('e1'));
  await recorder.close();
  expect(await written()).toHaveLength(1);
  expect(recorder.stats()).toMatchObject({ recorded: 1, waiting: 0 });
});

test('outcome recorder: outcomes are deleted with their event', async () => {
  await addEvents(['e1']);
  const recorder = start();
  recorder.record(outcomeOf('e1'));
  await vi.waitFor(async () => expect(await written()).toHaveLength(1), within);
  await rig.pool.query('delete from recent_events where account_id = $1', [account]);
  expect(await written()).toEqual([]);
});

test('outcome recorder: events with one id, but of different visitors or sources, have their own outcomes', async () => {
  const owners = [
    { sourceId: 'web', visitorId: 'ann' },
    { sourceId: 'web', visitorId: 'bob' },
    { sourceId: 'server', visitorId: 'bob' },
  ];
  for (const owner of owners) expect(await addEvents(['signup'], owner)).toBe(1);
  expect(await addEvents(['signup'], { sourceId: 'web', visitorId: 'ann' })).toBe(0);
  const recorder = start();
  owners.forEach((owner, index) => recorder.record(outcomeOf('signup', { ...owner, attempts: index + 1 })));
  await vi.waitFor(async () => {
    const { rows } = await rig.pool.query<{ owner: string; attempts: number[] }>(
      `select e.source_id || ' ' || e.visitor_id as owner, array_agg(o.attempts) as attempts
       from recent_events e join event_outcomes o on o.account_id = e.account_id and o.event_id = e.id and o.origin = e.origin
       where e.account_id = $1 group by 1 order by 1`,
      [account],
    );
    expect(rows).toEqual([
      { owner: 'server bob', attempts: [3] },
      { owner: 'web ann', attempts: [1] },
      { owner: 'web bob', attempts: [2] },
    ]);
  }, within);
});

test('outcome recorder: an event that an earlier build recorded gets the newest outcome of its id', async () => {
  await addEvents(['old']);
  await rig.pool.query('update recent_events set origin = 0 where account_id = $1', [account]);
  const recorder = start();
  recorder.record(outcomeOf('old', { visitorId: 'ann', atMs: nowMs, attempts: 1 }));
  recorder.record(outcomeOf('old', { visitorId: 'bob', atMs: nowMs + 5, attempts: 2 }));
  await vi.waitFor(async () => expect(await written()).toEqual([['old', 'd1', 'delivered', null, 2]]), within);
  await vi.waitFor(() => expect(recorder.stats()).toMatchObject({ recorded: 2, failed_writes: 0 }), within);
});
