import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import { client } from '../../../shared/nats/connection/client.ts';
import { connectLog } from '../../../shared/nats/connection/connection.ts';
import { asLogUser } from '../../../shared/testing/as-log-user.ts';
import { createNatsFolder, startTestNats } from '../../../shared/testing/servers.ts';
import { httpEntity } from '../../testing/account-config.ts';
import type { ScriptedDestination } from '../../../shared/testing/scripted-destination.ts';
import { retireActor } from '../../cluster/retire-actors.ts';
import { until } from '../../../shared/testing/until.ts';
import { quickRetries } from './testing/quick-retries.ts';
import { defaultSettings } from './testing/dispatcher-rig.ts';
import type { DispatcherRig } from './testing/dispatcher-rig.ts';
import { eachWithRig } from './testing/each-with-rig.ts';
import { createLedger } from '../../testing/ledger.ts';
import type { Ledger } from '../../testing/ledger.ts';

const concurrency = 8;
const visitors = 20;

let storeDir: string;
let nats: NatsServer;
let sink: ScriptedDestination;
let rig: DispatcherRig;
let ledger: Ledger;

beforeAll(async () => {
  storeDir = await createNatsFolder();
  nats = await startTestNats({ storeDir });
});
afterAll(() => nats.stop());
eachWithRig(
  (opened) => {
    ({ sink, rig } = opened);
    ledger = createLedger(visitors);
    rig.configure({ destinations: [httpEntity(rig.destinationId, `${sink.url}/hook`)] });
  },
  () => nats,
);

/** Stores frames, most with fewer events than are in flight, some with more. Returns the ids in each frame. */
async function store(frames: number): Promise<string[][]> {
  const stored: string[][] = [];
  for (let frame = 0; frame < frames; frame += 1) {
    const events = ledger.next([1, 3, 7, 40][frame % 4] ?? 1);
    await rig.send(events);
    stored.push(events.map(({ id }) => id));
  }
  return stored;
}

/**
 * Events of acknowledged frames that are neither in the retry log nor delivered. Reads in the order in which events
 * move, so that no event is missed on its way.
 */
async function lostOf(frames: readonly (readonly string[])[]): Promise<string[]> {
  const acknowledged = await rig.acknowledged();
  const waiting = (await rig.retryRecords()).map(({ eventId }) => eventId);
  const kept = new Set([...waiting, ...sink.taken()]);
  const ids = frames.filter((_, frame) => (rig.frameSeqs[frame] ?? Infinity) <= acknowledged).flat();
  return ids.filter((id) => !kept.has(id));
}

/** Waits grow only up to the third failure, since on a slow machine an event may fail more often. */
const shortRetries: typeof quickRetries = (windowMs, pauseMs) => {
  const policy = quickRetries(windowMs, pauseMs);
  return (failed, random) => {
    const { attempted } = failed;
    const step = policy({ ...failed, attempted: { ...attempted, attempts: Math.min(attempted.attempts, 2) } }, random);
    return { ...step, attempted: { ...step.attempted, attempts: attempted.attempts + 1 } };
  };
};

const visitorOf = (id: string): string => id.slice(0, id.indexOf('-'));
/** The ids grouped by visitor; the order within each visitor stays. */
const byVisitor = (ids: readonly string[]): string[] =>
  ids.toSorted((one, other) => visitorOf(one).localeCompare(visitorOf(other)));
const unanswered = (): number => sink.requests.at(-1)?.concurrent ?? 0;
const arrived = (count: number): Promise<void> => until(`${count} were asked for`, () => sink.requests.length >= count);

test('order when a dispatcher ends: cut off from the log, as by a kill: the successor first sends the events that were in flight', async () => {
  sink.answer(({ concurrent }) => ({ status: 200, delayMs: 5 + (concurrent % 4) * 20 }));
  await store(30);
  for (let life = 1; life <= 4; life += 1) {
    const own = await connectLog({ url: asLogUser(nats.url, 'pipeline'), name: `life-${life}` });
    const mortal = await rig.start({ concurrency, healthFlushMs: 50, ackWaitMs: 3_600_000 }, 'test', own);
    await arrived(life * 40);
    await own[client].nc.close();
    mortal.done.catch(() => undefined);
    void mortal.stop(0);
  }
  const before = sink.requests.length;
  // The wait for an acknowledgement is longer than the test: the successor must not wait until the log redelivers the
  // frames of its predecessor.
  await rig.start({ concurrency, ackWaitMs: 3_600_000 });
  await until('the first one is asked for', () => sink.requests.length > before);
  await store(10);
  await rig.idle();
  const { missing, repeated, outOfOrder } = ledger.compare(sink);
  expect({ missing, outOfOrder }).toEqual({ missing: 0, outOfOrder: [] });
  // Only events that were in flight, or were answered after the position was last stored, are repeated.
  expect(repeated).toBeLessThanOrEqual(4 * concurrency * 5);
});

test('order when a dispatcher ends: a dispatcher that is still running when another one starts ends by itself', async () => {
  sink.answer(() => ({ status: 200, delayMs: 20 }));
  await store(20);
  const first = await rig.start({ concurrency });
  const ended = first.done.then(
    () => 'stopped',
    (error: unknown) => (error as { code?: string }).code,
  );
  await arrived(30);
  await rig.start({ concurrency });
  expect(await ended).toBe('consumer_taken');
  await store(10);
  await rig.idle();
  expect(ledger.compare(sink)).toMatchObject({ missing: 0, outOfOrder: [] });
});

test('order when a dispatcher ends: stop: it waits only for answers to requests in flight, and nothing is sent twice', async () => {
  sink.answer(() => ({ status: 200, delayMs: 300 }));
  await store(24);
  for (let life = 1; life <= 3; life += 1) {
    const dispatcher = await rig.start({ concurrency });
    await arrived(sink.requests.length + concurrency * 2);
    const before = sink.requests.length;
    await dispatcher.stop(10_000);
    expect(sink.requests.length).toBeLessThanOrEqual(before + concurrency);
  }
  sink.answer(() => 200);
  await rig.start({ concurrency });
  await rig.idle();
  expect(ledger.compare(sink)).toEqual({ missing: 0, repeated: 0, outOfOrder: [] });
});

test('order when a dispatcher ends: stop: with a deadline that is too short, only events in flight are sent twice', async () => {
  sink.answer(() => (sink.requests.length > 60 ? 'hang' : { status: 200, delayMs: 5 }));
  await store(30);
  const dispatcher = await rig.start({ concurrency });
  await arrived(60 + concurrency);
  await dispatcher.stop(100);
  const inFlight = unanswered();
  sink.answer(() => 200);
  await rig.start({ concurrency });
  await rig.idle();
  const { missing, repeated, outOfOrder } = ledger.compare(sink);
  expect({ missing, outOfOrder }).toEqual({ missing: 0, outOfOrder: [] });
  expect(repeated).toBeLessThanOrEqual(inFlight);
});

test('order when a dispatcher ends: while one event hangs, events behind it are delivered, and the successor does not send them again', async () => {
  const [first] = ledger.next(1);
  if (first !== undefined) await rig.send([first]);
  sink.answer(({ body }) => (body.includes('"v0-0"') ? 'hang' : 200));
  const own = await connectLog({ url: asLogUser(nats.url, 'pipeline'), name: 'mortal' });
  // One request hangs for longer than the other events can take on any machine.
  const sender = { ...defaultSettings.sender, headersTimeoutMs: 110_000, totalTimeoutMs: 120_000 };
  const mortal = await rig.start({ concurrency: 64, healthFlushMs: 20, sender }, 'one', own);
  for (let frame = 0; frame < 150; frame += 1)
    await rig.send(ledger.next(20).filter(({ visitor }) => visitor !== 'v0'));
  await until('all but one are delivered', () => sink.taken().length >= 150 * 19);
  await until('that is stored', async () => ((await rig.position())?.place?.above.length ?? 0) === 150);
  await own[client].nc.close();
  mortal.done.catch(() => undefined);
  void mortal.stop(0);
  sink.answer(() => 200);
  // The next dispatcher runs on another instance, and finds the position that the first one stored.
  const next = await rig.start({}, 'two');
  await rig.idle();
  expect(sink.requests).toHaveLength(150 * 19 + 2);
  expect(next.stats()['repeated_events']).toBe(1);
});

test('order when a dispatcher ends: while a breaker opens and closes, each event stays in a log until delivered, once and in visitor order', async () => {
  // There are so many visitors that the breaker opens before each of them has had a failure, so untouched frames are
  // handed back.
  ledger = createLedger(100);
  let failing = false;
  const dispatcher = await rig.start({ concurrency, retryPolicyOf: shortRetries });
  sink.answer(async () => {
    if (!failing) return { status: 200, delayMs: 3 };
    await until('the frames of the first turn are in flight', () => (dispatcher.stats()['frames'] ?? 0) >= 12);
    return { status: 503, delayMs: 40 };
  });
  const frames: string[][] = [];
  for (let turn = 1; turn <= 3; turn += 1) {
    failing = true;
    frames.push(...(await store(12)));
    await until('the breaker is open', () => dispatcher.stats()['breaker_open'] === 1);
    await until('failed events wait', async () => (await rig.retryRecords()).length > 0);
    expect(await lostOf(frames)).toEqual([]);
    failing = false;
    frames.push(...(await store(4)));
    await until('the breaker is closed', () => dispatcher.stats()['breaker_open'] === 0);
    expect(await lostOf(frames)).toEqual([]);
  }
  await rig.idle();
  expect(await lostOf(frames)).toEqual([]);
  await until('all are delivered', () => sink.taken().length >= frames.flat().length);
  await rig.retryLogIsEmpty();
  expect(byVisitor(sink.taken())).toEqual(byVisitor(frames.flat()));
  // Some frames were delivered again after they had been handed back.
  expect(dispatcher.stats()['frames']).toBeGreaterThan(frames.length);
  expect(dispatcher.stats()).toMatchObject({ visitors_waiting: 0, events_parked: 0, parked_lost: 0, retries_lost: 0 });
});

test('order when a dispatcher ends: the log server is killed and comes back: no event is lost, out of order or sent twice', async () => {
  sink.answer(() => ({ status: 200, delayMs: 10 }));
  await rig.start({ concurrency });
  for (let turn = 0; turn < 3; turn += 1) {
    await store(12);
    await arrived(sink.requests.length + 10);
    const { port } = nats;
    await nats.kill();
    nats = await startTestNats({ storeDir, port });
  }
  await store(4);
  await rig.idle();
  expect(ledger.compare(sink)).toEqual({ missing: 0, repeated: 0, outOfOrder: [] });
});

test('order when a dispatcher ends: killed together with the log server while all requests hang, then published again: no event is lost', async () => {
  sink.answer(() => 'hang');
  const own = await connectLog({ url: asLogUser(nats.url, 'pipeline'), name: 'mortal' });
  const mortal = await rig.start({ concurrency }, 'test', own);
  await store(12);
  await arrived(1);
  await until('its place is stored', async () => (await rig.position())?.place !== undefined);
  await own[client].nc.close();
  mortal.done.catch(() => undefined);
  void mortal.stop(0);
  const { port } = nats;
  await nats.kill();
  nats = await startTestNats({ storeDir, port });
  await until('the log is there again', () => rig.connection.connected && rig.pipelineConnection.connected);
  sink.answer(() => 200);
  await rig.start({ concurrency, publishedAtMs: Date.now() });
  await store(4);
  await rig.idle();
  const { missing, outOfOrder } = ledger.compare(sink);
  expect({ missing, outOfOrder }).toEqual({ missing: 0, outOfOrder: [] });
});

test('order when a dispatcher ends: a destination that was removed and published again gets only events from then on', async () => {
  sink.answer(() => ({ status: 200 }));
  const first = await rig.start({ concurrency });
  await store(4);
  await rig.idle();
  await first.stop(1_000);
  const spec = {
    kind: 'dispatcher',
    accountId: rig.accountId,
    destinationId: rig.destinationId,
    publishedAtMs: 0,
  } as const;
  await retireActor(rig.connection, { health: rig.healthBucket, positions: rig.positionBucket }, spec);
  const before = sink.requests.length;
  await rig.send([{ id: 'while-it-was-gone' }]);
  await wait(20);
  await rig.start({ concurrency, publishedAtMs: Date.now() });
  await rig.send([{ id: 'afterwards' }]);
  await rig.idle();
  expect(sink.taken().slice(before)).toEqual(['afterwards']);
  expect((await rig.counted())[0]).toBe(before + 1);
});
