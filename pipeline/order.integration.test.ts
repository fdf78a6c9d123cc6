import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NatsServer } from '../shared/embedded/nats/nats-server.ts';
import { migrate } from '../shared/postgres/migrate.ts';
import { createTestDatabase, startTestNats } from '../shared/testing/servers.ts';
import type { TestDatabase } from '../shared/testing/servers.ts';
import { httpEntity } from './testing/account-config.ts';
import { createLedger } from './testing/ledger.ts';
import type { Comparison } from './testing/ledger.ts';
import { openRig, startOn } from './testing/open-rig.ts';
import { runAsProcess } from './testing/run-as-process.ts';
import { until } from '../shared/testing/until.ts';

const visitors = 20;
const destinations = 4;
/**
 * When a thread dies, at most one event per visitor is in flight. Events that were answered just before may also be
 * repeated, since their answers may not be recorded yet.
 */
const repeatedMax = visitors * 4;

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

/** A pipeline under load: slow destinations, and a ledger that compares the events accepted with the requests made. */
async function underLoad() {
  const { rig, sink } = await openRig(nats.url, database.url, { PIPELINE_THREADS: '2' });
  const account = randomUUID();
  const ledger = createLedger(visitors);
  const paths = Array.from({ length: destinations }, (_, i) => `/${i}`);
  sink.answer(() => ({ status: 200, delayMs: 150 }));
  await rig.configure(account, { destinations: paths.map((path) => httpEntity(randomUUID(), sink.url + path)) });
  const requestsOf = (path: string): number => sink.requests.filter((request) => request.path === path).length;
  const compare = (): Comparison[] => paths.map((path) => ledger.compare(sink, path));
  return {
    rig,
    sink,
    /** Accepts `frames` batches of one to eleven events; all events of a visitor go to one partition. */
    async accept(frames: number): Promise<void> {
      for (let frame = 0; frame < frames; frame += 1) {
        const events = ledger.next(1 + (frame % 11));
        for (const partition of [0, 1]) {
          const own = events.filter(({ visitor }) => Number(visitor.slice(1)) % 2 === partition);
          if (own.length > 0) await rig.accept(account, own, partition);
        }
      }
    },
    /** Waits until every destination has received `count` more requests. */
    progress: async (count: number): Promise<void> => {
      const before = paths.map(requestsOf);
      await until(`${count} more were sent everywhere`, () =>
        paths.every((path, i) => requestsOf(path) >= (before[i] ?? 0) + count),
      );
    },
    /** Waits until every event has arrived at every destination, then returns the worst result of any destination. */
    async finish(): Promise<Comparison> {
      sink.answer(() => 200);
      await until('all arrived everywhere', () => compare().every(({ missing }) => missing === 0), 90_000);
      const compared = compare();
      return {
        missing: 0,
        repeated: Math.max(...compared.map(({ repeated }) => repeated)),
        outOfOrder: compared.flatMap(({ outOfOrder }) => outOfOrder),
      };
    },
  };
}

test('order across deaths: a thread dies: its actors run on other threads, and their earlier events are sent first', async () => {
  const { rig, accept, progress, finish } = await underLoad();
  const { pool } = await startOn(rig);
  await accept(60);
  await progress(40);
  // Terminates only threads that already run, because Node aborts the process if a thread ends while it loads its
  // modules.
  const [first, second] = pool.threads;
  await first?.terminate();
  await progress(40);
  await second?.terminate();
  await accept(20);
  const { repeated, outOfOrder } = await finish();
  expect(outOfOrder).toEqual([]);
  expect(repeated).toBeLessThanOrEqual(repeatedMax * 2);
});

test('order across deaths: SIGTERM: the process waits for answers in flight, and nothing is sent twice', async () => {
  const { rig, accept, progress, finish } = await underLoad();
  const first = runAsProcess(rig);
  await accept(60);
  await progress(40);
  first.kill('SIGTERM');
  const { code, log } = await first.ended;
  expect({ code, log }).toEqual({ code: 0, log });
  await startOn(rig);
  await accept(20);
  expect(await finish()).toEqual({ missing: 0, repeated: 0, outOfOrder: [] });
});

test('order across deaths: events stay in order while instances start, stand still, continue, and are killed', async () => {
  const { rig, accept, progress, finish } = await underLoad();
  const survivor = await startOn(rig, 'survivor');
  const alone = survivor.supervisor.states.running;
  await accept(40);
  await progress(20);
  const victim = runAsProcess(rig, 'victim');
  const shared = (): Promise<void> =>
    until('they have shared', () => {
      const { running, waiting, starting, stopping } = survivor.supervisor.states;
      return running < alone && waiting + starting + stopping === 0;
    });
  const isAlone = (): boolean => survivor.supervisor.states.running === alone;
  await shared();
  await accept(60);
  await progress(20);
  victim.kill('SIGSTOP');
  await until('the other one has taken over', isAlone);
  await accept(10);
  await progress(20);
  victim.kill('SIGCONT');
  await shared();
  await accept(30);
  await progress(20);
  victim.kill('SIGKILL');
  await until('the other one has taken over', isAlone);
  await accept(10);
  const { repeated, outOfOrder } = await finish();
  expect(outOfOrder).toEqual([]);
  expect(repeated).toBeLessThanOrEqual(repeatedMax * 3);
});
