import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import { allIngest, accountOfIngest } from '../../../shared/contracts/subjects.ts';
import { countBySubject } from '../../../shared/nats/messages/subject-log.ts';
import { listConsumerProgress } from '../../../shared/nats/streams/stream-progress.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { databaseTimeoutDefaults } from '../../../shared/postgres/database-access.ts';
import { migrate } from '../../../shared/postgres/migrate.ts';
import { createTestDatabase, startTestNats } from '../../../shared/testing/servers.ts';
import type { TestDatabase } from '../../../shared/testing/servers.ts';
import { createVisitorStore } from '../../../shared/visitors/postgres-visitor-store.ts';
import { createVisitorPool } from '../../../shared/visitors/visitor-pool.ts';
import { VisitorsFailedError, VisitorsUnavailableError } from '../../../shared/visitors/visitor-store.ts';
import type { VisitorStore, VisitorTouch } from '../../../shared/visitors/visitor-store.ts';
import type { Actor } from '../worker/define-worker.ts';
import { onEmptyLog, defaultSettings } from './testing/resolver-rig.ts';
import type { ResolverRig, TestEvent } from './testing/resolver-rig.ts';

let nats: NatsServer;
let database: TestDatabase;

beforeAll(async () => {
  [nats, database] = await Promise.all([startTestNats(), createTestDatabase()]);
  await migrate(database.url);
});
afterAll(async () => {
  await nats?.stop();
  await database?.drop();
});

const withRig = (work: (rig: ResolverRig) => Promise<void>): Promise<void> => onEmptyLog(nats.url, database.url, work);

const within = { timeout: 45_000, interval: 20 };
/** Low limits of a partition, so that small backlogs exceed them. */
const settings = { ...defaultSettings, waitingBytesMax: 1024 ** 2, framesInFlightMax: 64 };

type Visitors = Pick<VisitorStore, 'resolve' | 'lookUp' | 'distrust'>;

/** A visitor store that passes the writes of one account's visitors to `write`. */
function writingBy(
  store: Visitors,
  account: string,
  write: (
    touches: readonly VisitorTouch[],
    go: () => ReturnType<VisitorStore['resolve']>,
  ) => ReturnType<VisitorStore['resolve']>,
): Visitors {
  const ofAccount = (touches: readonly VisitorTouch[]): boolean => touches.some((touch) => touch.accountId === account);
  const through: VisitorStore['resolve'] = (touches) =>
    ofAccount(touches) ? write(touches, () => store.resolve(touches)) : store.resolve(touches);
  return {
    distrust: () => store.distrust(),
    resolve: through,
    async lookUp(touches) {
      const found = await store.lookUp(touches);
      const left = touches.filter((_, index) => found.outcomes[index] === undefined);
      return { ...found, write: () => (ofAccount(left) ? write(left, () => found.write()) : found.write()) };
    },
  };
}

type Flood = { readonly from: number; readonly events: number; readonly bytes: number; readonly visitors?: number };

/** Sends events of one account, of the given size, with a few visitors in turn. */
async function flood(rig: ResolverRig, account: string, { from, events, bytes, visitors = 7 }: Flood): Promise<void> {
  const padding = 'x'.repeat(bytes);
  for (let start = from; start < from + events; start += 20) {
    const rows = Array.from({ length: Math.min(20, from + events - start) }, (_, row): TestEvent => {
      const n = start + row;
      return { id: `s${n}`, account, body: { event: 'E', userId: `u${n % visitors}`, properties: { n, padding } } };
    });
    await rig.send(1, rows);
  }
}

const one = (account: string, id: string): TestEvent => ({ id, account, body: { event: 'E', userId: `of-${id}` } });

const idsOf = async (rig: ResolverRig, account: string): Promise<string[]> =>
  (await rig.written(account)).map(({ event }) => event.id);

const names = (events: number): string[] => Array.from({ length: events }, (_, n) => `s${n}`);

async function queuesLeft(rig: ResolverRig): Promise<readonly string[]> {
  const subjects = await countBySubject(rig.connection, streams.ingest, allIngest);
  const consumers = await listConsumerProgress(rig.connection, streams.ingest);
  return [...subjects.keys(), ...consumers.map(({ filterSubject }) => filterSubject)].filter(
    (subject) => accountOfIngest(1, subject) !== undefined,
  );
}

/** A latch whose `isOpen` resolves once `open` is called. */
function createLatch(): { readonly isOpen: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const isOpen = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { isOpen, open: () => open() };
}

const stat = (resolver: Actor, name: string): number => resolver.stats()[name] ?? 0;

test.each([
  ['large events', settings, 40_000, 200],
  ['small events, a few in a frame', settings, 10, 3_000],
  ['far over what a partition holds by default', defaultSettings, 1_500, 24_000],
])(
  'resolver: an account whose visitors cannot be written does not delay other accounts, at any backlog: %s',
  (_, limits, bytes, events) =>
    withRig(async (rig) => {
      const [stuck, fine] = [randomUUID(), randomUUID()];
      const opened = createLatch();
      const store = createVisitorStore(rig.pool);
      const visitors = writingBy(store, stuck, async (_touches, go) => opened.isOpen.then(go));
      const resolver = await rig.start(1, { visitors, settings: limits });
      await flood(rig, stuck, { from: 0, events, bytes });
      await rig.send(1, [one(fine, 'f1')]);
      await vi.waitFor(async () => expect(await idsOf(rig, fine)).toEqual(['f1']), within);
      expect(resolver.stats()).toMatchObject({ accounts_queued: 1 });
      // Later events of the stuck account do not delay others either, even in the same frame.
      await flood(rig, stuck, { from: events, events: 100, bytes });
      await rig.send(1, [one(stuck, `s${events + 100}`), one(fine, 'f2')]);
      await vi.waitFor(async () => expect(await idsOf(rig, fine)).toEqual(['f1', 'f2']), within);
      expect(await idsOf(rig, stuck)).toEqual([]);
      // The queue counts all that was copied, except what was read into memory.
      const copied = stat(resolver, 'queued_bytes');
      expect(stat(resolver, `queue_bytes:${stuck}`)).toBeLessThanOrEqual(copied);
      expect(stat(resolver, `queue_bytes:${stuck}`)).toBeGreaterThan(copied - 1024 ** 2 / 2);
      opened.open();
      await vi.waitFor(() => expect(stat(resolver, 'resolved')).toBe(events + 103), within);
      expect(await idsOf(rig, stuck)).toEqual(names(events + 101));
      await vi.waitFor(async () => expect(await queuesLeft(rig)).toEqual([]), within);
      expect(resolver.stats()).toMatchObject({ accounts_queued: 0, events: events + 103 });
      expect(resolver.stats()).not.toHaveProperty(`queue_bytes:${stuck}`);
      await rig.send(1, [one(stuck, 'after')]);
      await vi.waitFor(async () => expect((await idsOf(rig, stuck)).at(-1)).toBe('after'), within);
      await resolver.stop(5_000);
    }),
);

test.each([
  ['by bytes', 12, { from: 1, events: 3, bytes: 34_000 }],
  ['by frames', 40, { from: 1, events: 40, bytes: 10 }],
  ['one event of one account', 1, { from: 1, events: 0, bytes: 0 }],
])(
  'resolver: accounts whose visitors cannot be written do not delay other accounts, however little each of them has: %s',
  (_, accounts, backlog) =>
    withRig(async (rig) => {
      const stuck = Array.from({ length: accounts }, () => randomUUID());
      const fine = randomUUID();
      let isStuck = true;
      const visitors = stuck.reduce<Visitors>(
        (store, account) =>
          writingBy(store, account, (_touches, go) =>
            isStuck ? Promise.reject(new VisitorsFailedError('canceled by a lock', { isHeld: true })) : go(),
          ),
        createVisitorStore(rig.pool),
      );
      const resolver = await rig.start(1, { visitors, settings });
      await rig.send(
        1,
        stuck.map((account) => one(account, 's0')),
      );
      await vi.waitFor(() => expect(resolver.stats()).toMatchObject({ accounts_apart: accounts }), within);
      for (const account of stuck) await flood(rig, account, backlog);
      const sent = Array.from({ length: 2 * settings.framesInFlightMax }, (_, n) => `f${n}`);
      for (const id of sent) await rig.send(1, [one(fine, id)]);
      await vi.waitFor(async () => expect(await idsOf(rig, fine)).toEqual(sent), within);
      isStuck = false;
      const events = backlog.events + 1;
      await vi.waitFor(() => expect(stat(resolver, 'resolved')).toBe(accounts * events + sent.length), within);
      for (const account of stuck) expect(await idsOf(rig, account)).toEqual(names(events));
      await vi.waitFor(async () => expect(await queuesLeft(rig)).toEqual([]), within);
      await resolver.stop(5_000);
    }),
);

test('resolver: a backlog of an account that sends faster than its visitors are written does not delay other accounts', () =>
  withRig(async (rig) => {
    const [busy, fine] = [randomUUID(), randomUUID()];
    const store = createVisitorStore(rig.pool);
    const events = 6_000;
    let calls = 0;
    const passed = createLatch();
    const visitors = writingBy(store, busy, async (_touches, go) => {
      calls += 1;
      // The first batches are written while the backlog grows, the others once the other account has passed it.
      if (calls > 3) await passed.isOpen;
      return go();
    });
    const resolver = await rig.start(1, { visitors, settings });
    await flood(rig, busy, { from: 0, events, bytes: 1_000, visitors: events });
    await rig.send(1, [one(fine, 'f1')]);
    await vi.waitFor(async () => expect(await idsOf(rig, fine)).toEqual(['f1']), within);
    expect(stat(resolver, 'resolved')).toBeLessThan(events);
    passed.open();
    await vi.waitFor(() => expect(stat(resolver, 'resolved')).toBe(events + 1), within);
    expect(await idsOf(rig, busy)).toEqual(names(events));
    await resolver.stop(5_000);
  }));

test('resolver: the queue of an account is taken over by the next resolver, in order and once', () =>
  withRig(async (rig) => {
    const [stuck, fine] = [randomUUID(), randomUUID()];
    const store = createVisitorStore(rig.pool);
    const events = 400;
    // Each resolver writes a few batches to the log; then the database becomes unavailable to it.
    const visitorsOf = (parts: number): Visitors => {
      let left = parts;
      return writingBy(store, stuck, (_touches, go) => {
        left -= 1;
        return left < 0 ? Promise.reject(new VisitorsUnavailableError('the database is away')) : go();
      });
    };
    const few = { ...settings, accountEventsMax: 32 };
    let sent = 0;
    for (let turn = 0; turn < 4; turn += 1) {
      const resolver = await rig.start(1, { visitors: visitorsOf(turn), settings: few });
      await flood(rig, stuck, { from: sent, events: events / 4, bytes: 40_000 });
      sent += events / 4;
      await rig.send(1, [one(fine, `f${turn}`)]);
      await vi.waitFor(async () => expect(await idsOf(rig, fine)).toContain(`f${turn}`), within);
      // For messages that an earlier resolver copied, the size is only estimated.
      const left = sent - (await idsOf(rig, stuck)).length;
      await vi.waitFor(
        () => expect(stat(resolver, `queue_bytes:${stuck}`)).toBeGreaterThan((left * 40_000) / 2),
        within,
      );
      await resolver.stop(0);
    }
    const last = await rig.start(1, { visitors: store, settings: few });
    await vi.waitFor(async () => expect(await idsOf(rig, stuck)).toHaveLength(events), within);
    expect(await idsOf(rig, stuck)).toEqual(names(events));
    await vi.waitFor(async () => expect(await queuesLeft(rig)).toEqual([]), within);
    await last.stop(5_000);
  }));

test('resolver: if there is only one account, its events are not moved to a queue', () =>
  withRig(async (rig) => {
    const only = randomUUID();
    const opened = createLatch();
    const visitors = writingBy(createVisitorStore(rig.pool), only, async (_touches, go) => opened.isOpen.then(go));
    const resolver = await rig.start(1, { visitors, settings, isOnlyAccount: (id) => id === only });
    await flood(rig, only, { from: 0, events: 200, bytes: 40_000 });
    await vi.waitFor(() => expect(stat(resolver, 'frames')).toBeGreaterThan(1), within);
    opened.open();
    await vi.waitFor(() => expect(stat(resolver, 'resolved')).toBe(200), within);
    expect(resolver.stats()).toMatchObject({ queued_bytes: 0 });
    await resolver.stop(5_000);
  }));

test('resolver: an event whose visitor the database cannot write becomes a dead letter, and no other account waits', () =>
  withRig(async (rig) => {
    const [bad, fine] = [randomUUID(), randomUUID()];
    await rig.ownerPool.query(`
      create function cancel_statement() returns trigger language plpgsql as $$ begin
        raise 'canceling statement due to statement timeout' using errcode = 'query_canceled'; end $$;
      create trigger cancel_statement before insert on visitors for each row when (new.id = 'slow')
        execute function cancel_statement()`);
    try {
      const resolver = await rig.start(1, { visitors: createVisitorStore(rig.pool), settings });
      const events = ['a', 'slow', 'b', 'c'].map((userId) => ({
        id: userId,
        account: bad,
        body: { event: 'E', userId },
      }));
      await rig.send(1, [...events, one(fine, 'f1')]);
      await vi.waitFor(async () => expect(await idsOf(rig, fine)).toEqual(['f1']), within);
      await vi.waitFor(() => expect(resolver.stats()).toMatchObject({ accounts_apart: 1 }), within);
      await rig.send(1, [one(fine, 'f2')]);
      await vi.waitFor(async () => expect(await idsOf(rig, fine)).toEqual(['f1', 'f2']), within);
      await vi.waitFor(async () => expect(await idsOf(rig, bad)).toEqual(['a', 'b', 'c']), within);
      const letters = await rig.deadLetters();
      expect(letters).toEqual([
        {
          accountId: bad,
          text: expect.stringContaining('"userId":"slow"'),
          reason: expect.stringContaining('canceling statement due to statement timeout'),
        },
      ]);
      // Once all writes succeed, the account's events are written together with events of other accounts again.
      await rig.send(1, [one(bad, 'd')]);
      await vi.waitFor(async () => expect(await idsOf(rig, bad)).toEqual(['a', 'b', 'c', 'd']), within);
      await vi.waitFor(() => expect(resolver.stats()).toMatchObject({ accounts_apart: 0 }), within);
      await resolver.stop(5_000);
    } finally {
      await rig.ownerPool.query('drop trigger cancel_statement on visitors; drop function cancel_statement');
    }
  }));

test('resolver: while statements of all accounts time out, no event becomes a dead letter, and work continues afterwards', () =>
  withRig(async (rig) => {
    const accounts = [randomUUID(), randomUUID()];
    const pool = createVisitorPool({
      databaseUrl: database.url,
      databaseTimeouts: { ...databaseTimeoutDefaults, statementMs: 200, lockMs: 0 },
      connectionsMax: 5,
      name: 'locked-visitors',
      forceIndexScans: true,
      onIdleError: () => undefined,
    });
    const holder = await rig.pool.connect();
    try {
      await holder.query('begin; lock table visitors in share row exclusive mode');
      const resolver = await rig.start(1, { visitors: createVisitorStore(pool), settings });
      await rig.send(
        1,
        accounts.map((account) => one(account, 'e')),
      );
      await vi.waitFor(() => expect(stat(resolver, 'visitor_retries')).toBeGreaterThan(6), within);
      expect(resolver.stats()).toMatchObject({ visitor_failures: 0, dead_letters: 0 });
      await holder.query('commit');
      for (const account of accounts) {
        await vi.waitFor(async () => expect(await idsOf(rig, account)).toEqual(['e']), within);
      }
      expect(stat(resolver, 'dead_letters')).toBe(0);
      await resolver.stop(5_000);
    } finally {
      holder.release();
      await pool.end();
    }
  }));

test('resolver: in a batch of many accounts, only the single failing event becomes a dead letter', () =>
  withRig(async (rig) => {
    const accounts = Array.from({ length: 30 }, () => randomUUID());
    const [bad = ''] = accounts;
    const store = createVisitorStore(rig.pool);
    let tries = 0;
    const visitors = writingBy(store, bad, (touches, go) => {
      tries += 1;
      const isBad = touches.some(({ accountId, claim }) => accountId === bad && claim.userId === 'of-bad');
      return isBad ? Promise.reject(new VisitorsFailedError('resolving visitors: invalid page in block 7')) : go();
    });
    const resolver = await rig.start(1, { visitors, settings });
    await rig.send(1, [...accounts.map((account) => one(account, 'e')), one(bad, 'bad'), one(bad, 'next')]);
    for (const account of accounts.slice(1)) {
      await vi.waitFor(async () => expect(await idsOf(rig, account)).toEqual(['e']), within);
    }
    await vi.waitFor(async () => expect(await idsOf(rig, bad)).toEqual(['e', 'next']), within);
    await vi.waitFor(async () => expect(await rig.deadLetters()).toHaveLength(1), within);
    expect((await rig.deadLetters())[0]?.reason).toContain('invalid page in block 7');
    expect(tries).toBeLessThan(15);
    await resolver.stop(5_000);
  }));
