import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { sampleEvent } from '../../../shared/destinations/sdk/sample-event.ts';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import type { EventOrigin } from '../../../shared/contracts/events/event-origin.ts';
import { copied } from '../../../shared/contracts/events/testing/copied-record.ts';
import {
  decodeRetryFrame,
  encodeRetryRecord,
  parkedTier,
  replayTier,
  settledNoteTier,
} from '../../../shared/contracts/events/retry-record.ts';
import { readNext } from '../../../shared/nats/messages/subject-log.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { client } from '../../../shared/nats/connection/client.ts';
import { connectLog } from '../../../shared/nats/connection/connection.ts';
import { publishWithRetry } from '../../../shared/nats/publish/publisher.ts';
import { dispatcherConsumer, retrySubject } from '../../../shared/contracts/subjects.ts';
import { asLogUser } from '../../../shared/testing/as-log-user.ts';
import { httpEntity } from '../../testing/account-config.ts';
import { idsOf } from '../../../shared/testing/scripted-destination.ts';
import type { ScriptedDestination } from '../../../shared/testing/scripted-destination.ts';
import { until } from '../../../shared/testing/until.ts';
import { retirePosition } from './lifecycle/owned-position.ts';
import { defaultSettings } from './testing/dispatcher-rig.ts';
import type { DispatcherRig } from './testing/dispatcher-rig.ts';
import { eachWithRig } from './testing/each-with-rig.ts';
import { quickRetries } from './testing/quick-retries.ts';

let nats: NatsServer;
let sink: ScriptedDestination;
let rig: DispatcherRig;

eachWithRig((opened) => {
  ({ nats, sink, rig } = opened);
  publishDestination();
});

function publishDestination(settings: Readonly<Record<string, unknown>> = {}): void {
  rig.configure({ destinations: [httpEntity(rig.destinationId, `${sink.url}/hook`, { settings })] });
}

/** The `n`-th event of a visitor. */
const event = (visitor: string, n: number) => ({ id: `${visitor}:${String(n).padStart(3, '0')}`, visitor });
const events = (visitor: string, ...numbers: readonly number[]) => numbers.map((n) => event(visitor, n));
const takenOf = (visitor: string): string[] => sink.taken().filter((id) => id.startsWith(`${visitor}:`));
const has = (body: string, id: string): boolean => idsOf(body).includes(id);

/** Number of events in the retry log of the destination. */
async function recordsWaiting(): Promise<number> {
  let records = 0;
  for (const subject of (await rig.retries()).keys()) {
    for (let seq = 1; ;) {
      const found = await readNext(rig.connection, streams.retry, subject, seq);
      if (found === undefined) break;
      if (!subject.endsWith(`.${settledNoteTier}`)) records += decodeRetryFrame(found.data).length;
      seq = found.seq + 1;
    }
  }
  return records;
}

/**
 * Stores events in a tier of the retry log. Without `originOf`, the records lack an origin, like records of
 * earlier builds.
 */
async function putIntoTier(
  tier: number,
  ids: readonly string[],
  attempts: number,
  originOf: (id: string) => { origin?: EventOrigin } = () => ({}),
): Promise<void> {
  const at = Date.now();
  const times = { firstAttemptAt: at, lastAttemptAt: at, notBefore: at };
  const lines = ids.map((id) => {
    const sample = sampleEvent({ id });
    const [visitor = ''] = id.split(':');
    const resolved = { ...sample, visitor: { ...sample.visitor, id: visitor } };
    return encodeRetryRecord({ attempts, ...times, reason: 'test', ...originOf(id), ...copied(resolved) });
  });
  const message = { subject: retrySubject(rig.destinationId, tier), payload: Buffer.from(`${lines.join('\n')}\n`) };
  await publishWithRetry(rig.connection, { ...message, msgId: randomUUID() }, { attemptsMax: 20 });
}

/** Stores references to events of EVENTS in a tier of the retry log. */
async function putReferences(
  tier: number,
  of: readonly { readonly id: string; readonly origin: EventOrigin }[],
): Promise<void> {
  const at = Date.now();
  const times = { firstAttemptAt: at, lastAttemptAt: at, notBefore: at };
  const lines = of.map(({ id, origin }) => {
    const [visitorId = ''] = id.split(':');
    const event = { eventId: id, visitorId, receivedAt: at, bytes: 100 };
    return encodeRetryRecord({ attempts: 0, ...times, reason: 'test', origin, ...event });
  });
  const message = { subject: retrySubject(rig.destinationId, tier), payload: Buffer.from(`${lines.join('\n')}\n`) };
  await publishWithRetry(rig.connection, { ...message, msgId: randomUUID() }, { attemptsMax: 20 });
}

test('order across retries: 503: later events of the visitor wait, and events of other visitors are sent', async () => {
  let failures = 2;
  sink.answer(({ body }) => (has(body, 'a:000') && failures-- > 0 ? 503 : 200));
  const dispatcher = await rig.start();
  await rig.send([...events('a', 0, 1), ...events('b', 0, 1)]);
  await rig.send([...events('a', 2), ...events('b', 2)]);
  await until('the others passed', () => takenOf('b').length === 3);
  expect(takenOf('a')).toEqual([]);
  await rig.idle();
  await until('they wait', () => dispatcher.stats()['events_parked'] === 2);
  expect(dispatcher.stats()).toMatchObject({ visitors_waiting: 1, parked: 2 });
  await rig.send(events('a', 3));
  await until('all arrived', () => takenOf('a').length === 4);
  expect(takenOf('a')).toEqual(events('a', 0, 1, 2, 3).map(({ id }) => id));
  await rig.retryLogIsEmpty();
  expect(dispatcher.stats()).toMatchObject({ visitors_waiting: 0, events_parked: 0, delivered: 7 });
});

test('order across retries: 429 with Retry-After: later events of the visitor wait as long as the first one must', async () => {
  const afterS = 2;
  sink.answer(() => (sink.requests.length === 1 ? { status: 429, headers: { 'retry-after': `${afterS}` } } : 200));
  await rig.start();
  await rig.send(events('a', 0, 1, 2));
  await until('all arrived', () => sink.taken().length === 3);
  expect(sink.taken()).toEqual(events('a', 0, 1, 2).map(({ id }) => id));
  // The other requests may be later on a slow machine. All times are measured by this process, in whole ms.
  const [first, ...later] = sink.requests;
  for (const { atMs } of later) expect(atMs).toBeGreaterThan((first?.atMs ?? 0) + afterS * 1_000 - 10);
});

test('order across retries: hang: a request without an answer holds back the events behind it', async () => {
  sink.answer(() => (sink.requests.length === 1 ? 'hang' : 200));
  await rig.start({ sender: { ...defaultSettings.sender, headersTimeoutMs: 300 } });
  await rig.send(events('a', 0, 1, 2));
  await until('all arrived', () => sink.taken().length === 3);
  expect(sink.taken()).toEqual(events('a', 0, 1, 2).map(({ id }) => id));
});

test.each([
  ['one event a request', '1'],
  ['batches', '10'],
])(
  'order across retries: flapping, %s: however often requests fail, each visitor’s events are sent in order, once each',
  async (_what, batchSize) => {
    publishDestination({ batchSize });
    // The first request fails, and later ones fail at random, but no event fails more than twice: its third wait would
    // be half a minute.
    const failures = new Map<string, number>();
    sink.answer(({ body }) => {
      const ids = idsOf(body);
      const mayFail = ids.every((id) => (failures.get(id) ?? 0) < 2);
      const fails = failures.size === 0 || Math.random() >= 0.7;
      if (!mayFail || !fails) return { status: 200, delayMs: 1 };
      for (const id of ids) failures.set(id, (failures.get(id) ?? 0) + 1);
      return 503;
    });
    const dispatcher = await rig.start({ concurrency: 8, retryPolicyOf: quickRetries });
    const visitors = Array.from({ length: 12 }, (_, i) => `v${i}`);
    for (let n = 0; n < 8; n += 1) await rig.send(visitors.flatMap((visitor) => [event(visitor, n)]));
    await until('all arrived', () => new Set(sink.taken()).size === 96, 90_000);
    expect(dispatcher.stats()['retries']).toBeGreaterThan(0);
    await rig.idle();
    await rig.retryLogIsEmpty();
    for (const visitor of visitors) {
      expect(takenOf(visitor)).toEqual(events(visitor, 0, 1, 2, 3, 4, 5, 6, 7).map(({ id }) => id));
    }
    expect(dispatcher.stats()).toMatchObject({ visitors_waiting: 0, events_parked: 0, parked_lost: 0 });
  },
);

test('order across retries: down: after the breaker was open, the events of every visitor are sent in order', async () => {
  sink.answer(() => ({ status: 503, delayMs: 30 }));
  const dispatcher = await rig.start({ concurrency: 4, framesBufferedMax: 8 });
  const visitors = Array.from({ length: 10 }, (_, i) => `v${i}`);
  for (let n = 0; n < 60; n += 1) await rig.send([event(visitors[n % 10] ?? '', Math.floor(n / 10))]);
  await until('the breaker is open', () => dispatcher.stats()['breaker_open'] === 1);
  for (let n = 60; n < 80; n += 1) await rig.send([event(visitors[n % 10] ?? '', Math.floor(n / 10))]);
  sink.answer(() => 200);
  await until('all arrived', () => new Set(sink.taken()).size === 80);
  for (const visitor of visitors) {
    expect(takenOf(visitor)).toEqual(events(visitor, 0, 1, 2, 3, 4, 5, 6, 7).map(({ id }) => id));
  }
  await rig.idle();
  await rig.retryLogIsEmpty();
});

test('order across retries: dead letter: once the first event becomes a dead letter, the events behind it are sent', async () => {
  sink.answer(({ body }) => (has(body, 'a:000') ? 503 : 200));
  await rig.start({ retryWindowMs: 1_500 });
  await rig.send(events('a', 0, 1, 2));
  await until('the others arrived', () => sink.taken().length === 2);
  expect(sink.taken()).toEqual(events('a', 1, 2).map(({ id }) => id));
  expect((await rig.deadLetters()).map((letter) => letter.event.event.id)).toEqual(['a:000']);
  await rig.retryLogIsEmpty();
});

test('order across retries: window: the retry window of a waiting event begins with its own first attempt', async () => {
  let failures = 2;
  sink.answer(({ body }) => (has(body, 'a:000') || failures-- > 0 ? 503 : 200));
  await rig.start({ retryWindowMs: 1_500 });
  await rig.send(events('a', 0, 1));
  await until('the second arrived', () => sink.taken().join() === 'a:001');
  expect((await rig.deadLetters()).map((letter) => letter.event.event.id)).toEqual(['a:000']);
});

test('order across retries: rules: once a new rule stops the first waiting event, the event behind it is sent', async () => {
  sink.answer(({ body }) => (has(body, 'a:000') ? 503 : 200));
  await rig.start();
  await rig.send([{ ...event('a', 0), name: 'Bad' }, event('a', 1)]);
  await until('it waits', async () => (await rig.retries()).size === 2);
  const logic = { condition: { property: 'event.event', operator: 'Is', value: 'Bad' } };
  rig.configure({
    destinations: [httpEntity(rig.destinationId, `${sink.url}/hook`)],
    mappings: [{ id: 'm', destinationId: rig.destinationId, priority: 1, isEnabled: true, logic, action: 'stop' }],
  });
  await until('the next arrived', () => sink.taken().length === 1);
  expect(sink.taken()).toEqual(['a:001']);
  await rig.retryLogIsEmpty();
});

test('order across retries: order "none": later events are sent at once, before the retry of the failed event', async () => {
  publishDestination({ order: 'none' });
  sink.answer(() => (sink.requests.length === 1 ? 503 : 200));
  const dispatcher = await rig.start();
  await rig.send(events('a', 0, 1, 2));
  await until('all arrived', () => sink.taken().length === 3);
  expect(sink.taken()).toEqual(['a:001', 'a:002', 'a:000']);
  expect(dispatcher.stats()).toMatchObject({ parked: 0, visitors_waiting: 0 });
});

test('order across retries: changing `order` to "none" releases parked events; changing it to "visitor" holds later events back again', async () => {
  sink.answer(({ body }) => (has(body, 'a:000') ? { status: 429, headers: { 'retry-after': '4' } } : 200));
  const dispatcher = await rig.start();
  await rig.send(events('a', 0, 1, 2));
  await until('they wait', () => dispatcher.stats()['events_parked'] === 2);
  publishDestination({ order: 'none' });
  await until('they arrived', () => sink.taken().length === 2);
  expect(sink.taken()).toEqual(['a:001', 'a:002']);
  publishDestination({ order: 'visitor' });
  await until('the first is known to wait', () => dispatcher.stats()['visitors_waiting'] === 1);
  sink.answer(() => 200);
  await rig.send(events('a', 3));
  await until('all arrived', () => sink.taken().length === 4);
  expect(sink.taken()).toEqual(['a:001', 'a:002', 'a:000', 'a:003']);
  await rig.retryLogIsEmpty();
});

test('order across retries: limit: with visitorsMax visitors waiting, no fresh events are sent until there is room', async () => {
  let isDown = true;
  sink.answer(({ body }) => (isDown && idsOf(body)[0]?.startsWith('bad') === true ? 503 : 200));
  const order = { ...defaultSettings.order, visitorsMax: 4 };
  const dispatcher = await rig.start({ order });
  await rig.send([0, 1, 2, 3].map((n) => event(`bad${n}`, 0)));
  await until('it is paused', () => dispatcher.stats()['order_paused'] === 1);
  await rig.send(events('good', 0));
  await until('it waits in the log', async () => (await rig.unfinished()) >= 1);
  expect(dispatcher.stats()).toMatchObject({ visitors_waiting: 4, order_pauses: 1 });
  expect(takenOf('good')).toEqual([]);
  isDown = false;
  await until('all arrived', () => sink.taken().length === 5);
  expect(dispatcher.stats()['order_paused']).toBe(0);
  await rig.idle();
  await rig.retryLogIsEmpty();
});

test('order across retries: limit: one visitor has no more parked events than the limit', async () => {
  let isDown = true;
  sink.answer(({ body }) => (isDown && has(body, 'a:000') ? 503 : 200));
  const order = { ...defaultSettings.order, eventsMax: 10 };
  const dispatcher = await rig.start({ order });
  for (let n = 0; n < 60; n += 1) await rig.send(events('a', n));
  await until('it is paused', () => dispatcher.stats()['order_paused'] === 1);
  expect(dispatcher.stats()['events_parked']).toBeLessThan(30);
  isDown = false;
  await until('all arrived', () => sink.taken().length === 60);
  expect(sink.taken()).toEqual(sink.taken().toSorted());
  await rig.idle();
  await rig.retryLogIsEmpty();
});

test('order across retries: after a restart, waiting events are restored, and redelivered events are not sent twice', async () => {
  sink.answer(({ body }) => (idsOf(body)[0]?.endsWith('000') === true ? 503 : 200));
  const first = await rig.start();
  const visitors = ['a', 'b', 'c'];
  for (let n = 0; n < 4; n += 1) await rig.send(visitors.map((visitor) => event(visitor, n)));
  await until('they wait', async () => (await recordsWaiting()) === 12);
  await first.stop(1_000);
  // Simulates a crash before any frame was acknowledged: all frames are delivered again.
  await rig.connection[client].jsm.consumers.delete(streams.events, dispatcherConsumer(rig.destinationId));
  await retirePosition({ positions: rig.positionBucket, health: rig.healthBucket }, rig.destinationId);
  sink.answer(() => 200);
  const second = await rig.start();
  expect(second.stats()).toMatchObject({ visitors_waiting: 3, events_parked: 9 });
  await rig.send(visitors.map((visitor) => event(visitor, 4)));
  await until('all arrived', () => sink.taken().length === 15);
  expect(second.stats()['already_waiting']).toBe(12);
  await rig.idle();
  for (const visitor of visitors) expect(takenOf(visitor)).toEqual(events(visitor, 0, 1, 2, 3, 4).map(({ id }) => id));
  await rig.retryLogIsEmpty();
});

test('order across retries: cut off from the log, as by a kill, several times during failures: each visitor’s order is kept', async () => {
  sink.answer(() => (Math.random() < 0.3 ? 503 : { status: 200, delayMs: 3 }));
  const visitors = Array.from({ length: 10 }, (_, i) => `v${i}`);
  for (let n = 0; n < 12; n += 1) await rig.send(visitors.map((visitor) => event(visitor, n)));
  const settings = { concurrency: 4, retryPolicyOf: quickRetries };
  for (let life = 1; life <= 3; life += 1) {
    const before = sink.requests.length;
    const own = await connectLog({ url: asLogUser(nats.url, 'pipeline'), name: `life-${life}` });
    const mortal = await rig.start({ ...settings, healthFlushMs: 50 }, 'test', own);
    await until('some were asked for', () => sink.requests.length > before + 25);
    await own[client].nc.close();
    mortal.done.catch(() => undefined);
    void mortal.stop(0);
  }
  sink.answer(() => ({ status: 200, delayMs: 3 }));
  const last = await rig.start(settings);
  await until('all arrived', () => new Set(sink.taken()).size === 120);
  await rig.idle();
  await rig.retryLogIsEmpty();
  const firstOf = (visitor: string): string[] => [...new Set(takenOf(visitor))];
  for (const visitor of visitors) expect(firstOf(visitor)).toEqual(firstOf(visitor).toSorted());
  expect(last.stats()).toMatchObject({ visitors_waiting: 0, events_parked: 0, parked_lost: 0 });
});

test('order across retries: restart: an event that was being moved when the process died is sent once', async () => {
  await putIntoTier(parkedTier, ['a:001', 'a:002', 'b:000'], 0);
  await putIntoTier(0, ['a:001'], 1);
  await rig.start();
  await until('all arrived', () => sink.taken().length === 3);
  await rig.retryLogIsEmpty();
  expect(takenOf('a')).toEqual(['a:001', 'a:002']);
  expect(takenOf('b')).toEqual(['b:000']);
});

test('order across retries: restart: events parked before the failure of the event ahead was stored are sent in order', async () => {
  await rig.send(events('first', 0));
  const first = await rig.start();
  await until('it is delivered', () => sink.taken().length === 1);
  await rig.idle();
  await first.stop(1_000);
  for (let n = 0; n < 30; n += 1) await rig.send(events(`other${n}`, 0, 1, 2, 3));
  await rig.send(events('a', 0, 1, 2));
  const seq = rig.frameSeqs.at(-1) ?? 0;
  // The state that a dispatcher leaves if it is cut off before it has stored that a:000 failed.
  await putReferences(parkedTier, [
    { id: 'a:001', origin: { seq, line: 1 } },
    { id: 'a:002', origin: { seq, line: 2 } },
  ]);
  const second = await rig.start({ concurrency: 1 });
  await until('all arrived', () => takenOf('a').length === 3);
  await rig.idle();
  await rig.retryLogIsEmpty();
  expect(takenOf('a')).toEqual(['a:000', 'a:001', 'a:002']);
  expect(second.stats()).toMatchObject({ visitors_waiting: 0, events_parked: 0, parked_lost: 0 });
});

test('order across retries: restart: only events of a shared frame that still wait are sent again', async () => {
  await putIntoTier(parkedTier, ['a:001', 'b:001', 'c:001'], 0);
  await putIntoTier(0, ['b:000'], 1);
  sink.answer(({ body }) => (has(body, 'b:000') ? 503 : 200));
  const first = await rig.start();
  await until('the others arrived', () => sink.taken().length === 2);
  await first.stop(1_000);
  const second = await rig.start();
  expect(second.stats()).toMatchObject({ visitors_waiting: 1, events_parked: 1 });
  sink.answer(() => 200);
  await until('all arrived', () => sink.taken().length === 4);
  expect(sink.taken()).toEqual(['a:001', 'c:001', 'b:000', 'b:001']);
  await rig.retryLogIsEmpty();
});

test('order across retries: order removed: events that were settled in a shared frame, or moved out of it, are not sent from it again', async () => {
  await putIntoTier(parkedTier, ['a:001', 'b:001', 'b:002'], 0);
  sink.answer(({ body }) => (has(body, 'b:001') ? 503 : 200));
  const dispatcher = await rig.start();
  const waitsInTier = async (): Promise<boolean> => (await recordsWaiting()) === 4;
  await until('one has arrived and one has failed', async () => sink.taken().length === 1 && (await waitsInTier()));
  expect(dispatcher.stats()).toMatchObject({ visitors_waiting: 1, events_parked: 1 });
  sink.answer(() => 200);
  publishDestination({ order: 'none' });
  await until('no event waits', async () => (await recordsWaiting()) === 0);
  expect(sink.taken().toSorted()).toEqual(['a:001', 'b:001', 'b:002']);
  await rig.retryLogIsEmpty();
});

test('order across retries: restart: events that an earlier version left in several tiers are sent before fresh events', async () => {
  await putIntoTier(0, ['a:000'], 1);
  await putIntoTier(1, ['a:001'], 2);
  await rig.send(events('a', 2));
  await rig.start();
  await until('all arrived', () => sink.taken().length === 3);
  expect(sink.taken().at(-1)).toBe('a:002');
});

test('order across retries: another process: its parked events are found, even if this process has parked later events since', async () => {
  let isDown = true;
  sink.answer(({ body }) => (isDown && has(body, 'a:000') ? 503 : 200));
  const dispatcher = await rig.start({ retryPolicyOf: quickRetries });
  const framesParked = async (): Promise<number> =>
    (await rig.retries()).get(retrySubject(rig.destinationId, parkedTier)) ?? 0;
  await rig.send(events('a', 0, 1));
  await until('one is parked', async () => (await framesParked()) === 1);
  await putIntoTier(parkedTier, ['a:002', 'c:000'], 0);
  await rig.send(events('a', 3));
  await until('another one is parked after it', async () => (await framesParked()) === 3);
  isDown = false;
  await until('all arrived', () => {
    dispatcher.retriesStored(parkedTier);
    return sink.taken().length === 5;
  });
  expect(takenOf('a').toSorted()).toEqual(events('a', 0, 1, 2, 3).map(({ id }) => id));
  await rig.retryLogIsEmpty();
});

test('order across retries: events that another process put into retry tiers are all sent before fresh events of their visitor', async () => {
  const dispatcher = await rig.start();
  await putIntoTier(0, ['a:000', 'a:001'], 1);
  await putIntoTier(1, ['a:002'], 2);
  sink.answer(({ body }) => (has(body, 'a:000') && sink.requests.length < 2 ? 503 : 200));
  for (const tier of [0, 1]) dispatcher.retriesStored(tier);
  await until('one is known to wait', () => dispatcher.stats()['visitors_waiting'] === 1);
  await rig.send(events('a', 3));
  await until('all arrived', () => sink.taken().length === 4);
  expect(sink.taken().at(-1)).toBe('a:003');
  await rig.retryLogIsEmpty();
  await until('nothing waits', () => dispatcher.stats()['visitors_waiting'] === 0);
});

test('order across retries: replay: replayed events join the end of their visitor’s queue, in their own order', async () => {
  let isDown = true;
  sink.answer(({ body }) => (isDown && has(body, 'a:005') ? 503 : 200));
  const dispatcher = await rig.start();
  await rig.send(events('a', 5));
  await until('it waits', () => dispatcher.stats()['visitors_waiting'] === 1);
  const waiting = { origin: { seq: rig.frameSeqs.at(-1) ?? 0, line: 0 } };
  await putIntoTier(replayTier, ['a:001', 'b:001', 'a:002', 'a:005'], 0, (id) => (id === 'a:005' ? waiting : {}));
  dispatcher.retriesStored(replayTier);
  await until('that of the other visitor passed', () => takenOf('b').length === 1);
  await until('the others wait', () => dispatcher.stats()['events_parked'] === 2);
  await rig.send(events('a', 6));
  await rig.idle();
  isDown = false;
  await until('all arrived', () => takenOf('a').length === 4);
  expect(takenOf('a')).toEqual(['a:005', 'a:001', 'a:002', 'a:006']);
  await rig.retryLogIsEmpty();
});

test('order across retries: disabled: waiting events stay, and are sent in order when the destination is enabled again', async () => {
  sink.answer(({ body }) => (has(body, 'a:000') ? 503 : 200));
  const dispatcher = await rig.start();
  await rig.send(events('a', 0, 1, 2));
  await until('they wait', () => dispatcher.stats()['events_parked'] === 2);
  rig.configure({ destinations: [httpEntity(rig.destinationId, `${sink.url}/hook`, { status: 'Disabled' })] });
  await rig.send(events('a', 3));
  await rig.idle();
  sink.answer(() => 200);
  publishDestination();
  await rig.send(events('a', 4));
  await until('all arrived', () => sink.taken().length === 4);
  expect(sink.taken()).toEqual(events('a', 0, 1, 2, 4).map(({ id }) => id));
});

test('order across retries: rows: a platform that may accept only some rows gets one event of a visitor per request', async () => {
  const answer = (body: string): string => {
    const { Records } = JSON.parse(body) as { Records: { PartitionKey: string }[] };
    const isFirst = sink.requests.length === 1;
    return JSON.stringify({
      Records: Records.map(({ PartitionKey }) =>
        isFirst && PartitionKey === 'a' ? { ErrorCode: 'InternalFailure' } : { SequenceNumber: '1' },
      ),
    });
  };
  const settings = { streamName: 's', region: 'eu-west-1', accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'x' };
  rig.configure({
    destinations: [
      httpEntity(rig.destinationId, sink.url, { type: 'AWSKinesis', settings: { ...settings, baseUrl: sink.url } }),
    ],
  });
  sink.answer(({ body }) => ({ status: 200, body: answer(body) }));
  const dispatcher = await rig.start();
  await rig.send([...events('a', 0, 1), ...events('b', 0, 1)]);
  await until('all arrived', () => dispatcher.stats()['delivered'] === 4);
  const keys = sink.requests.map(({ body }) =>
    (JSON.parse(body) as { Records: { PartitionKey: string }[] }).Records.map(({ PartitionKey }) => PartitionKey),
  );
  for (const request of keys) expect(new Set(request).size).toBe(request.length);
  expect(keys[0]).toEqual(['a', 'b']);
});
