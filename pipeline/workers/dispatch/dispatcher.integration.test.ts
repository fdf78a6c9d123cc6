// Large: cases of one rig.
import { randomUUID } from 'node:crypto';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sampleEvent } from '../../../shared/destinations/sdk/sample-event.ts';
import { copied } from '../../../shared/contracts/events/testing/copied-record.ts';
import { encodeRetryRecord } from '../../../shared/contracts/events/retry-record.ts';
import { publishWithRetry } from '../../../shared/nats/publish/publisher.ts';
import { retrySubject } from '../../../shared/contracts/subjects.ts';
import { httpEntity } from '../../testing/account-config.ts';
import { idsOf } from '../../../shared/testing/scripted-destination.ts';
import type { ScriptedDestination } from '../../../shared/testing/scripted-destination.ts';
import { until } from '../../../shared/testing/until.ts';
import { noSuspicion, quarantineReason } from '../worker/suspicion.ts';
import { defaultSettings } from './testing/dispatcher-rig.ts';
import type { DispatcherRig } from './testing/dispatcher-rig.ts';
import { eachWithRig } from './testing/each-with-rig.ts';

let sink: ScriptedDestination;
let rig: DispatcherRig;

eachWithRig((opened) => {
  ({ sink, rig } = opened);
  publishDestination();
});

function publishDestination(own: Readonly<Record<string, unknown>> = {}): void {
  rig.configure({ destinations: [httpEntity(rig.destinationId, `${sink.url}/hook`, own)] });
}

const numbered = (count: number, prefix = 'e') => Array.from({ length: count }, (_, i) => ({ id: `${prefix}${i}` }));

test('dispatcher: delivery: every event is sent once, with its id as idempotency key, then acknowledged and counted', async () => {
  await rig.start();
  await rig.send(numbered(3));
  await rig.send([{ id: 'größe' }]);
  await rig.idle();
  expect(sink.taken('/hook').toSorted()).toEqual(['e0', 'e1', 'e2', 'größe']);
  expect(sink.requests.map(({ headers }) => String(headers['idempotency-key'])).toSorted()).toEqual([
    'e0',
    'e1',
    'e2',
    'gr%C3%B6%C3%9Fe',
  ]);
  expect(await rig.counted()).toEqual([4, 0, 0, 0]);
  expect((await rig.health())?.lastDispatchedAt).toBeGreaterThan(Date.now() - 60_000);
});

test('dispatcher: start: sends events that were resolved after the destination was published and before its dispatcher started', async () => {
  await rig.send(numbered(2));
  await rig.start();
  await rig.idle();
  expect(sink.taken().toSorted()).toEqual(['e0', 'e1']);
});

test('dispatcher: accepts: an event that the platform cannot use is skipped and not counted, and its frame is acknowledged', async () => {
  const settings = { measurementId: 'G-EXAMPLE123', apiSecret: 'secret', baseUrl: sink.url };
  publishDestination({ type: 'GA4MeasurementProtocol', settings });
  await rig.start();
  await rig.send([{ id: 'who', name: '$identify' }, { id: 'what' }]);
  await rig.send([{ id: 'who again', name: '$identify' }]);
  await rig.idle();
  expect(sink.requests.map(({ body }) => (JSON.parse(body) as { events: { name: string }[] }).events)).toEqual([
    [expect.objectContaining({ name: 'Order' })],
  ]);
  await until('it is counted', async () => (await rig.counted()).join() === '1,0,0,0');
});

test('dispatcher: groups: events of different groups go in separate requests, at the same time', async () => {
  const settings = { measurementId: 'G-EXAMPLE123', apiSecret: 'secret', baseUrl: sink.url };
  publishDestination({ type: 'GA4MeasurementProtocol', settings });
  await rig.start();
  await rig.send(Array.from({ length: 60 }, (_, i) => ({ id: `e${i}`, visitor: `v${i % 3}`, name: `Event ${i}` })));
  await rig.idle();
  type Body = { readonly client_id: string; readonly events: readonly { readonly name: string }[] };
  const bodies = sink.requests.map(({ body }) => JSON.parse(body) as Body);
  for (const visitor of ['v0', 'v1', 'v2']) {
    const names = bodies.flatMap(({ client_id, events }) =>
      client_id === visitor ? events.map(({ name }) => Number(name.slice('Event_'.length))) : [],
    );
    expect(names).toHaveLength(20);
    expect(names).toEqual(names.toSorted((a, b) => a - b));
  }
  await until('it is counted', async () => (await rig.counted()).join() === '60,0,0,0');
});

test('dispatcher: retry: a failed event is sent again with the same idempotency key, and every attempt is counted', async () => {
  let failures = 2;
  sink.answer(() => (failures-- > 0 ? 500 : 200));
  await rig.start();
  await rig.send([{ id: 'a' }]);
  await until('it arrived', () => sink.taken().length === 1);
  await rig.idle();
  expect(sink.requests.map(({ headers }) => headers['idempotency-key'])).toEqual(['a', 'a', 'a']);
  await rig.retryLogIsEmpty();
  await until('it is counted', async () => (await rig.counted()).join() === '1,2,0,0');
  expect(await rig.deadLetters()).toEqual([]);
});

test('dispatcher: retry: a failing event does not delay its frame or fresh events', async () => {
  sink.answer(({ body }) => (idsOf(body)[0]?.startsWith('bad') === true ? 503 : 200));
  await rig.start();
  await rig.send([{ id: 'bad1' }, ...numbered(5)]);
  await rig.idle();
  expect(sink.taken().toSorted()).toEqual(['e0', 'e1', 'e2', 'e3', 'e4']);
  // `bad1` always fails. It may be in two tiers for a while, since its earlier tier is emptied later.
  expect(new Set((await rig.retryRecords()).map(({ eventId }) => eventId))).toEqual(new Set(['bad1']));
});

test('dispatcher: retry: a retry stays in the log while the dispatcher is stopped, and is sent by the next dispatcher', async () => {
  sink.answer(() => 500);
  const first = await rig.start();
  await rig.send([{ id: 'a' }]);
  await until('it is in the retry log', async () => (await rig.retries()).size === 1);
  await first.stop(1_000);
  sink.answer(() => 200);
  await rig.start();
  await until('it is counted', async () => (await rig.counted()).join() === '1,1,0,0');
  expect(sink.taken()).toEqual(['a']);
});

test('dispatcher: Retry-After: the next attempt is not made before the requested time', async () => {
  const afterS = 2;
  sink.answer(() => (sink.requests.length === 1 ? { status: 429, headers: { 'retry-after': `${afterS}` } } : 200));
  await rig.start();
  await rig.send([{ id: 'a' }]);
  await until('it arrived', () => sink.taken().length === 1);
  const [first, second] = sink.requests;
  // The second request may be later on a slow machine. Both times are measured by this process, in whole ms.
  expect(second?.atMs).toBeGreaterThan((first?.atMs ?? 0) + afterS * 1_000 - 10);
});

test('dispatcher: reject: a refused event becomes a dead letter with the reason and without secrets', async () => {
  sink.answer(() => 400);
  await rig.start();
  await rig.send([{ id: 'a' }]);
  await rig.idle();
  const [letter, ...more] = await rig.deadLetters();
  expect(more).toEqual([]);
  expect(letter).toMatchObject({
    destinationId: rig.destinationId,
    reason: 'status 400',
    attempts: 1,
    request: { method: 'POST', host: new URL(sink.url).host, status: 400 },
    event: { event: { id: 'a' } },
  });
  expect(JSON.stringify(letter?.request)).not.toContain('hook');
  expect(await rig.counted()).toEqual([0, 1, 0, 0]);
});

test("dispatcher: failed attempt: the platform's answer and the request are in the outcome and the dead letter, and in no retry", async () => {
  const headers = { authorization: 'Bearer k3y-that-opens' };
  const settings = { httpDestinationUrl: `${sink.url}/hook`, headers: JSON.stringify(headers) };
  publishDestination({ settings });
  const answer = { error: { code: 'quota', message: 'try later' }, echo: 'k3y-that-opens' };
  let status = 503;
  sink.answer(() => ({ status, headers: { 'x-request-id': 'r-1' }, body: JSON.stringify(answer) }));
  await rig.start();
  await rig.send([{ id: 'a' }]);
  const exchangesOf = (outcome: string) =>
    rig.notes.flatMap((note) => (note.outcome === outcome && note.exchange ? [note.exchange.read()] : []));
  await until('it is tried', () => exchangesOf('retrying').length > 0);
  expect(JSON.stringify(await rig.retryRecords())).not.toContain('try later');
  status = 400;
  await until('it is a dead letter', async () => (await rig.deadLetters()).length === 1);
  const [letter] = await rig.deadLetters();
  const told = { code: 'quota', message: 'try later', headers: { 'x-request-id': 'r-1' } };
  expect(exchangesOf('retrying')[0]).toMatchObject({ answer: { status: 503, ...told } });
  expect(letter?.exchange).toMatchObject({
    request: { method: 'POST', url: `${sink.url}/hook`, headers: { authorization: 'Bearer ********' }, events: 1 },
    answer: { status: 400, ...told },
  });
  expect(letter?.exchange?.request.body).toContain('"id":"a"');
  expect(JSON.stringify([letter, rig.notes])).not.toContain('k3y-that-opens');
  expect(letter?.event.event.id).toBe('a');
});

test('dispatcher: window: an event that is never accepted becomes a dead letter at the end of the window', async () => {
  sink.answer(() => 500);
  await rig.start({ retryWindowMs: 1_200 });
  await rig.send([{ id: 'a' }]);
  await until('it is a dead letter', async () => (await rig.deadLetters()).length === 1);
  const [letter] = await rig.deadLetters();
  expect(letter?.reason).toBe('no attempt left: status 500');
  expect(letter?.attempts).toBe(sink.requests.length);
  expect((letter?.lastAttemptAt ?? 0) - (letter?.firstAttemptAt ?? 0)).toBeGreaterThanOrEqual(1_200);
});

test('dispatcher: order: events of one visitor are sent in order, events of different visitors at the same time', async () => {
  sink.answer(() => ({ status: 200, delayMs: 5 }));
  await rig.start({ concurrency: 8 });
  for (let frame = 0; frame < 5; frame += 1) {
    await rig.send(
      Array.from({ length: 20 }, (_, i) => ({
        id: `${i % 10}:${String(frame * 2 + Math.floor(i / 10)).padStart(2, '0')}`,
        visitor: `v${i % 10}`,
      })),
    );
  }
  await until('all arrived', () => sink.taken().length === 100);
  for (let visitor = 0; visitor < 10; visitor += 1) {
    const own = sink.taken().filter((id) => id.startsWith(`${visitor}:`));
    expect(own).toEqual(own.toSorted());
  }
  expect(Math.max(...sink.requests.map(({ concurrent }) => concurrent))).toBe(8);
});

test('dispatcher: batch: a batch is sent in one request, and only the events at fault are refused', async () => {
  publishDestination({ settings: { batchSize: '10' } });
  sink.answer(({ body }) => (idsOf(body).includes('e3') ? 422 : 200));
  await rig.start();
  await rig.send(numbered(10));
  await rig.idle();
  expect(idsOf(sink.requests[0]?.body ?? '')).toHaveLength(10);
  expect(sink.taken().toSorted()).toEqual(
    numbered(10)
      .map(({ id }) => id)
      .filter((id) => id !== 'e3'),
  );
  expect((await rig.deadLetters()).map(({ event }) => event.event.id)).toEqual(['e3']);
  expect(await rig.counted()).toEqual([9, 1, 0, 0]);
});

test('dispatcher: breaker: a destination that is down gets few requests, and all its events once it is back', async () => {
  sink.answer(() => ({ status: 503, delayMs: 100 }));
  const dispatcher = await rig.start({ concurrency: 4 });
  for (let i = 0; i < 60; i += 1) await rig.send([{ id: `e${i}` }]);
  await until('the breaker is open', () => dispatcher.stats()['breaker_open'] === 1);
  await until('frames wait in the log', async () => (await rig.unfinished()) > 30);
  expect(sink.requests.length).toBeLessThan(40);
  sink.answer(() => 200);
  await until('all arrived', () => new Set(sink.taken()).size === 60);
  await rig.idle();
  expect(sink.taken()).toHaveLength(60);
  expect(await rig.deadLetters()).toEqual([]);
});

test('dispatcher: retry: during a flood of failing events, most of the requests are still for fresh events', async () => {
  sink.answer(({ body }) => ({ status: idsOf(body)[0]?.startsWith('bad') === true ? 503 : 200, delayMs: 4 }));
  await rig.start({ concurrency: 8 });
  for (let frame = 0; frame < 4; frame += 1) {
    // Successful events between the failing ones keep the breaker closed.
    await rig.send(
      Array.from({ length: 200 }, (_, i) => ({ id: i % 2 === 0 ? `bad${frame}.${i}` : `mixed${frame}.${i}` })),
    );
  }
  await until('they failed', async () => (await rig.retries()).size > 0);
  await rig.idle();
  await rig.send(numbered(400, 'fresh'));
  await until('the fresh arrived', () => sink.taken().filter((id) => id.startsWith('fresh')).length === 400);
  // The fresh events did not wait for the failing ones, which are still being tried.
  expect((await rig.retries()).size).toBeGreaterThan(0);
});

test('dispatcher: overload: a destination that answers 429 gets fewer requests at a time', async () => {
  sink.answer(({ concurrent }) => ({ status: concurrent > 4 ? 429 : 200, delayMs: 20 }));
  const dispatcher = await rig.start({ concurrency: 32 });
  await rig.send(numbered(300));
  await until('it was too much', () => sink.requests.some(({ concurrent }) => concurrent > 4));
  await until('it is asked less', () => (dispatcher.stats()['concurrency'] ?? 0) <= 8);
  await until('most arrived', () => sink.taken().length > 150);
  expect(await rig.deadLetters()).toEqual([]);
});

test('dispatcher: disabled: a disabled destination gets no events, and only later events once it is enabled again', async () => {
  publishDestination({ status: 'Disabled' });
  await rig.start();
  await rig.send(numbered(3));
  await rig.idle();
  publishDestination();
  await rig.send([{ id: 'later' }]);
  await until('it arrived', () => sink.taken().length > 0);
  expect(sink.taken()).toEqual(['later']);
  // A frame is acknowledged once health has counted it.
  await rig.idle();
  expect(await rig.counted()).toEqual([1, 0, 0, 0]);
});

test('dispatcher: disabled: events that wait behind a request in flight are not sent once the destination is disabled', async () => {
  sink.answer(({ body }) => {
    if (idsOf(body).includes('e0')) publishDestination({ status: 'Disabled' });
    return 200;
  });
  await rig.start();
  await rig.send(numbered(5).map(({ id }) => ({ id, visitor: 'one' })));
  await rig.idle();
  expect(sink.taken()).toEqual(['e0']);
  publishDestination();
  await rig.send([{ id: 'later', visitor: 'one' }]);
  await until('it arrived', () => sink.taken().includes('later'));
  expect(sink.taken()).toEqual(['e0', 'later']);
});

/** Puts events into the retry log, due at once. */
async function replay(ids: readonly string[]): Promise<void> {
  const times = { firstAttemptAt: Date.now(), lastAttemptAt: Date.now(), notBefore: Date.now() };
  const lines = ids.map((id) =>
    encodeRetryRecord({ attempts: 0, ...times, reason: 'replay', ...copied(sampleEvent({ id })) }),
  );
  const message = { subject: retrySubject(rig.destinationId, 0), payload: Buffer.from(`${lines.join('\n')}\n`) };
  await publishWithRetry(rig.connection, { ...message, msgId: rig.destinationId }, { attemptsMax: 20 });
}

test('dispatcher: disabled: events read from the retry log stay there, and are sent once the destination is enabled again', async () => {
  await replay(['r0', 'r1', 'r2']);
  sink.answer(() => {
    publishDestination({ status: 'Disabled' });
    return 200;
  });
  const dispatcher = await rig.start();
  await until('the first arrived', () => sink.taken().length === 1);
  await until('nothing is held', () => dispatcher.stats()['events_held'] === 0);
  expect(sink.taken()).toEqual(['r0']);
  sink.answer(() => 200);
  publishDestination();
  await until('the others arrived', () => sink.taken().length === 3);
  expect(sink.taken()).toEqual(['r0', 'r1', 'r2']);
});

test('dispatcher: bug: an error caused by a new configuration ends the dispatcher, and does not reach the sender', async () => {
  const dispatcher = await rig.start();
  const ended = dispatcher.done.catch((error: unknown) => error);
  rig.breakRules();
  expect(await ended).toBeInstanceOf(TypeError);
});

test('dispatcher: rules: events stopped by a rule are counted; events that are not meant for the destination are not', async () => {
  const named = (name: string) => ({ condition: { property: 'event.event', operator: 'Is', value: name } });
  rig.configure({
    destinations: [httpEntity(rig.destinationId, sink.url, { limitedToSourceIds: ['source-1'] })],
    globalDispatchCenters: [
      {
        id: 'center',
        isEnabled: true,
        categories: [{ name: 'c', priority: 1, destinationIds: [rig.destinationId], logic: named('Blocked') }],
      },
    ],
    mappings: [
      {
        id: 'm',
        destinationId: rig.destinationId,
        priority: 1,
        isEnabled: true,
        logic: named('Stopped'),
        action: 'stop',
      },
    ],
  });
  await rig.start();
  await rig.send([
    { id: 'ok' },
    { id: 'test', test: true },
    { id: 'other', source: 'source-2' },
    { id: 's1', name: 'Stopped' },
    { id: 's2', name: 'Stopped' },
    { id: 'g', name: 'Blocked' },
  ]);
  await rig.idle();
  expect(sink.taken()).toEqual(['ok']);
  expect(await rig.counted()).toEqual([1, 0, 2, 1]);
  expect(rig.notes.map(({ eventId, outcome }) => `${eventId} ${outcome}`).toSorted()).toEqual([
    'g globalStop',
    'ok delivered',
    's1 stopped',
    's2 stopped',
  ]);
});

test('dispatcher: misconfigured: events wait in the log until the destination’s settings can be used', async () => {
  rig.configure({ destinations: [httpEntity(rig.destinationId, 'not a url')] });
  const dispatcher = await rig.start();
  await rig.send([{ id: 'a' }]);
  expect(dispatcher.stats()['misconfigured']).toBe(1);
  publishDestination();
  await until('it arrived', () => sink.taken().join() === 'a');
});

test('dispatcher: key refused: the destination is paused, no event becomes a dead letter, and untried events are sent with a new key', async () => {
  sink.answer(({ headers }) => (headers['x-key'] === 'new' ? 200 : 401));
  publishDestination({ settings: { headers: { 'x-key': 'old' } } });
  // The retry window ends long before the new key is published.
  const dispatcher = await rig.start({ concurrency: 1, retryWindowMs: 50 });
  for (let i = 0; i < 12; i += 1) await rig.send([{ id: `e${i}` }]);
  await until('it is held', () => dispatcher.stats()['access_refused'] === 1);
  await until('health says so', async () => (await rig.health())?.accessRefused === true);
  expect(sink.requests).toHaveLength(3);
  expect(dispatcher.stats()).toMatchObject({ held: 3, attempts_access_refused: 3, dead_letters: 0, retries: 0 });
  publishDestination({ settings: { headers: { 'x-key': 'new' } } });
  await until('what was never tried arrived', () => new Set(sink.taken()).size === 9);
  await until('health is well', async () => (await rig.health())?.accessRefused === undefined);
  expect(dispatcher.stats()).toMatchObject({ access_refused: 0, breaker_open: 0, dead_letters: 0 });
  expect([...(await rig.retries()).values()].length).toBeGreaterThan(0);
});

test('dispatcher: key refused: events received during the pause are sent as soon as the destination has an accepted key', async () => {
  sink.answer(({ headers }) => (headers['x-key'] === 'new' ? 200 : 401));
  publishDestination({ settings: { headers: { 'x-key': 'old' } } });
  const dispatcher = await rig.start({ concurrency: 1 });
  await rig.send([{ id: 'first' }]);
  await rig.send([{ id: 'second' }]);
  await rig.send([{ id: 'third' }]);
  await until('it is held', () => dispatcher.stats()['access_refused'] === 1);
  // The dispatcher had requested more frames from the log before it was held.
  await rig.send([{ id: 'late' }]);
  await until('the frame is here', () => dispatcher.stats()['frames'] === 4);
  publishDestination({ settings: { headers: { 'x-key': 'new' } } });
  await until('it arrived', () => sink.taken().includes('late'));
  expect(sink.taken()).toEqual(['late']);
});

test('dispatcher: key refused: the destination is probed again without a change, and waiting events arrive in order', async () => {
  let isRefused = true;
  sink.answer(() => (isRefused ? 403 : 200));
  const accessRetry = { minMs: 300, maxMs: 600 };
  const dispatcher = await rig.start({ concurrency: 1, retryWindowMs: 50, accessRetry });
  for (let i = 0; i < 6; i += 1) await rig.send([{ id: `e${i}`, visitor: 'one' }]);
  await until('it was asked again and again', () => sink.requests.length > 5);
  expect(dispatcher.stats()).toMatchObject({ access_refused: 1, dead_letters: 0 });
  isRefused = false;
  await until('all arrived', () => sink.taken().length === 6);
  expect(sink.taken()).toEqual(['e0', 'e1', 'e2', 'e3', 'e4', 'e5']);
  expect(await rig.deadLetters()).toEqual([]);
});

test('dispatcher: key refused: an event for which alone the key is refused does not delay other events, and becomes a dead letter', async () => {
  sink.answer(({ body }) => (idsOf(body).includes('poison') ? 403 : 200));
  const accessRetry = { minMs: 300, maxMs: 600 };
  const dispatcher = await rig.start({ accessRetry });
  await rig.send([{ id: 'poison' }, ...numbered(20)]);
  await until('the others arrived', () => sink.taken().length === 20);
  await until('it is a dead letter', async () => (await rig.deadLetters()).length === 1);
  expect((await rig.deadLetters())[0]).toMatchObject({ reason: 'status 403', event: { event: { id: 'poison' } } });
  expect(dispatcher.stats()).toMatchObject({ access_refused: 0, breaker_opened: 0 });
});

test('dispatcher: forbidden address: the event becomes a dead letter, and nothing is sent', async () => {
  rig.configure({ destinations: [httpEntity(rig.destinationId, 'http://169.254.169.254/latest')] });
  await rig.start();
  await rig.send([{ id: 'a' }]);
  await rig.idle();
  expect((await rig.deadLetters()).map(({ reason }) => reason)).toEqual(['address or port not allowed (EGRESS_ALLOW)']);
});

test('dispatcher: unreadable line: the line becomes a dead letter, and the other events are delivered', async () => {
  const dispatcher = await rig.start();
  await rig.sendRaw('{"v":99}\n{"v":1}\nno json\n');
  await rig.send([{ id: 'a' }]);
  await rig.idle();
  expect(sink.taken()).toEqual(['a']);
  expect(dispatcher.stats()).toMatchObject({ dead_letters: 3, delivered: 1 });
});

test('dispatcher: shared frames: each destination of an account applies its own rules, and keeps its own copy of unreadable lines', async () => {
  const otherId = randomUUID();
  const mapping = { id: 'm', destinationId: otherId, priority: 1, isEnabled: true, logic: null, action: 'send' };
  rig.configure({
    destinations: [httpEntity(rig.destinationId, `${sink.url}/hook`), httpEntity(otherId, `${sink.url}/other`)],
    mappings: [{ ...mapping, eventName: 'Renamed', mappings: [] }],
  });
  const one = await rig.start();
  const other = await rig.start({ destinationId: otherId });
  await rig.sendRaw(
    rig.compressed(Array.from({ length: 20 }, (_, index) => ({ id: `c${index}`, name: 'say "Order"' }))),
  );
  await rig.sendRaw('{"v":99}\nno json\n');
  await rig.idle();
  await until('the other has acknowledged everything', async () => (await rig.unfinished(otherId)) === 0);
  const namesAt = (path: string) =>
    sink.requests.flatMap(({ path: at, body }) =>
      at === path ? [(JSON.parse(body) as { event: { event: string } }).event.event] : [],
    );
  expect(namesAt('/hook')).toEqual(Array.from({ length: 20 }, () => 'say "Order"'));
  expect(namesAt('/other')).toEqual(Array.from({ length: 20 }, () => 'Renamed'));
  for (const dispatcher of [one, other]) {
    expect(dispatcher.stats()).toMatchObject({ delivered: 20, dead_letters_unreadable: 2, heads_parsed: 20 });
  }
});

test('dispatcher: unreadable frame: a damaged compressed frame is kept unchanged, and events of other frames are delivered', async () => {
  const events = Array.from({ length: 20 }, (_, index) => ({ id: `c${index}` }));
  const damaged = Buffer.from(rig.compressed(events));
  damaged[damaged.length - 10] = (damaged[damaged.length - 10] ?? 0) ^ 0xff;
  const dispatcher = await rig.start();
  await rig.sendRaw(damaged);
  await rig.sendRaw(rig.compressed(events));
  await rig.idle();
  expect(sink.taken().toSorted()).toEqual(events.map(({ id }) => id).toSorted());
  expect(dispatcher.stats()).toMatchObject({ dead_letters: 1, dead_letters_unreadable: 1, delivered: 20 });
  expect(await rig.unreadable()).toEqual([damaged]);
});

test('dispatcher: in a quarantined frame each event becomes a dead letter, also if the frame is compressed', async () => {
  await rig.sendRaw(rig.compressed(Array.from({ length: 20 }, (_, index) => ({ id: `c${index}` }))));
  await rig.sendRaw(rig.compressed(Array.from({ length: 20 }, () => ({ id: 'cut' }))).subarray(0, -4));
  const [first = 0, second = 0] = rig.frameSeqs;
  const dispatcher = await rig.start({
    suspicion: {
      ...noSuspicion,
      log: { watched: { from: first, to: second }, quarantined: [{ seq: first }, { seq: second }] },
    },
  });
  await rig.idle();
  expect(await rig.deadLetters()).toHaveLength(20);
  expect(await rig.unreadable()).toHaveLength(1);
  expect(dispatcher.stats()).toMatchObject({ dead_letters: 21, dead_letters_set_aside: 21, delivered: 0 });
});

test('dispatcher: unreadable line: if only the head can be read, the line is found once more than the head is needed', async () => {
  sink.answer(({ headers }) => (headers['idempotency-key'] === 'broken' ? 400 : 200));
  const dispatcher = await rig.start();
  await rig.sendRaw(rig.brokenBehindHead('broken'));
  await rig.send([{ id: 'a' }]);
  await rig.idle();
  expect(dispatcher.stats()).toMatchObject({ dead_letters_unreadable: 1, delivered: 1 });
});

test('dispatcher: unreadable line: is found by a rule that reads beyond the head', async () => {
  const logic = { condition: { property: 'event.event_properties.plan', operator: 'Is', value: 'pro' } };
  rig.configure({
    destinations: [httpEntity(rig.destinationId, `${sink.url}/hook`)],
    mappings: [{ id: 'm', destinationId: rig.destinationId, priority: 1, isEnabled: true, logic, action: 'stop' }],
  });
  const dispatcher = await rig.start();
  await rig.sendRaw(rig.brokenBehindHead('broken'));
  await rig.send([{ id: 'a' }]);
  await rig.idle();
  expect(sink.taken()).toEqual(['a']);
  expect(dispatcher.stats()).toMatchObject({ dead_letters_unreadable: 1, delivered: 1 });
});

test('dispatcher: stop: finishes requests in flight and hands back the rest, which the next dispatcher sends', async () => {
  sink.answer(() => ({ status: 200, delayMs: 30 }));
  const first = await rig.start({ concurrency: 2 });
  for (let i = 0; i < 40; i += 1) await rig.send([{ id: `e${i}` }]);
  await until('some arrived', () => sink.taken().length >= 4);
  await first.stop(20_000);
  sink.answer(() => 200);
  await rig.start();
  await rig.idle();
  expect(sink.taken()).toHaveLength(40);
  expect(new Set(sink.taken()).size).toBe(40);
  expect(await rig.counted()).toEqual([40, 0, 0, 0]);
});

test('dispatcher: stop: waits for an answer even if it takes longer than a tolerated standstill', async () => {
  sink.answer(() => ({ status: 200, delayMs: 2_500 }));
  const first = await rig.start();
  await rig.send([{ id: 'a' }]);
  await until('it is asked', () => sink.requests.length === 1);
  await first.stop(20_000);
  expect(sink.taken()).toEqual(['a']);
  await rig.start();
  await rig.idle();
  expect(sink.requests).toHaveLength(1);
});

test('dispatcher: frames: with a small limit it fetches one frame at a time, and gets all of them', async () => {
  sink.answer(() => 'hang');
  const dispatcher = await rig.start({ concurrency: 1, bytesHeldMax: 1 });
  for (const event of numbered(20)) await rig.send([event]);
  await until('it sends', () => sink.requests.length > 0);
  await until('it asks for no more', async () => {
    const before = await rig.handedOut();
    await wait(200);
    return (await rig.handedOut()) === before;
  });
  // One frame is in flight, one was requested before the first was taken, and a third may be on its way.
  expect(await rig.handedOut()).toBeLessThanOrEqual(3);
  await dispatcher.stop(0);
  sink.answer(() => 200);
  await rig.start({ bytesHeldMax: 1 });
  await rig.idle();
  expect([...new Set(sink.taken())]).toEqual(numbered(20).map(({ id }) => id));
});

test('dispatcher: stop: does not wait for a destination that hangs', async () => {
  sink.answer(() => 'hang');
  const dispatcher = await rig.start();
  await rig.send([{ id: 'a' }]);
  await until('it is asked', () => sink.requests.length === 1);
  await dispatcher.stop(200);
  sink.answer(() => 200);
  await rig.start();
  await until('it arrived', () => sink.taken().length > 0);
  expect(sink.taken()).toEqual(['a']);
});

test('dispatcher: requests that end all at once are settled over several rounds, within the budget of the account', async () => {
  const [atOnce, settledInARoundMax] = [32, 8];
  const sender = { ...defaultSettings.sender, headersTimeoutMs: 1_000, totalTimeoutMs: 1_000 };
  // This limit allows two or three failures in a round.
  const dispatcher = await rig.start({ eventWorkMax: 10_000, sender });
  // The more requests the destination answers, the more it gets at a time.
  await rig.send(numbered(200));
  await rig.idle();
  sink.answer(() => 'hang');
  const settled = (): number => dispatcher.stats()['requests'] ?? 0;
  let [before, most] = [settled(), 0];
  const begun = before;
  const sent = rig.send(Array.from({ length: 2 * atOnce }, (_, index) => ({ id: `h${index}`, visitor: `v${index}` })));
  let underWay = 0;
  while (before < begun + atOnce) {
    await setImmediate();
    most = Math.max(most, settled() - before);
    before = settled();
    underWay = Math.max(underWay, sink.requests.length - before);
  }
  await sent;
  expect(underWay).toBeGreaterThanOrEqual(atOnce);
  expect(most).toBeLessThanOrEqual(settledInARoundMax);
});

test('dispatcher: health: counts are restored after a restart and continue', async () => {
  const first = await rig.start();
  await rig.send(numbered(2));
  await rig.idle();
  await first.stop(1_000);
  await rig.start();
  await rig.send(numbered(3, 'f'));
  await rig.idle();
  expect(await rig.counted()).toEqual([5, 0, 0, 0]);
});

test('dispatcher: an event whose rules take more work than allowed becomes a dead letter, and other events are delivered', async () => {
  const logic = { condition: { property: 'event.event', operator: 'Contains', value: 'y'.repeat(3_000) } };
  rig.configure({
    destinations: [httpEntity(rig.destinationId, `${sink.url}/hook`)],
    mappings: [{ id: 'm', destinationId: rig.destinationId, priority: 1, isEnabled: true, logic, action: 'stop' }],
  });
  await rig.start({ eventWorkMax: 10_000 });
  const name = 'x'.repeat(3_000);
  await rig.send([{ id: 'before' }, { id: 'heavy', name }, { id: 'again', name }, { id: 'after' }]);
  await rig.idle();
  expect(sink.taken('/hook').toSorted()).toEqual(['after', 'before']);
  const letters = await rig.deadLetters();
  expect(letters.map(({ event }) => event.event.id).toSorted()).toEqual(['again', 'heavy']);
  expect(letters[0]).toMatchObject({ attempts: 0, reason: expect.stringContaining('more than the 10000 units') });
});

test('dispatcher: suspected frames are worked on one at a time, and events of a quarantined frame become dead letters', async () => {
  await rig.send([{ id: 'deadly' }, { id: 'beside' }]);
  for (const id of ['a', 'b', 'c']) await rig.send([{ id }]);
  const [first = 0, second = 0, , last = 0] = rig.frameSeqs;
  await rig.start({
    suspicion: { ...noSuspicion, log: { watched: { from: first, to: last }, quarantined: [{ seq: first }] } },
  });
  await rig.idle();
  expect(sink.taken('/hook')).toEqual(['a', 'b', 'c']);
  const letters = await rig.deadLetters();
  expect(letters.map(({ event, reason }) => `${event.event.id}: ${reason}`).toSorted()).toEqual([
    `beside: ${quarantineReason}`,
    `deadly: ${quarantineReason}`,
  ]);
  const ranges = rig.turns.flatMap((frames) => frames?.log ?? []);
  expect(ranges).toContainEqual({ from: second, to: second });
  expect(ranges.filter(({ from, to }) => to > second && from < to)).toEqual([]);
});

test('dispatcher: frames that are suspected do not wait for retries that hang', async () => {
  sink.answer((request) => (idsOf(request.body).includes('stuck') ? 'hang' : 200));
  await replay(['stuck']);
  await rig.start({ suspicion: { ...noSuspicion, log: { watched: { from: 1, to: 1_000 }, quarantined: [] } } });
  await until('the retry is under way', () => sink.requests.length === 1);
  await rig.send([{ id: 'a' }]);
  await until('the frame goes on', () => sink.taken().length > 0);
  expect(sink.taken()).toEqual(['a']);
});

test('dispatcher: retry share: a destination that fails every other request is paused at its share, and continues once it recovers', async () => {
  publishDestination({ order: 'none' });
  let isWell = false;
  let requests = 0;
  sink.answer(() => ((requests += 1) % 2 === 0 || isWell ? 200 : 500));
  const bytesMax = 64 * 1024;
  const dispatcher = await rig.start({ concurrency: 4, retryQuota: { bytesMax, account: 1, all: 1 } });
  for (let i = 0; i < 40; i += 1) await rig.send(numbered(25, `f${i}-`));
  await until('its share is full', () => dispatcher.stats()['retry_share_full'] === 1);
  expect(dispatcher.stats()).toMatchObject({ breaker_open: 0, dead_letters: 0 });
  isWell = true;
  await rig.idle();
  await until('all arrived', () => sink.taken().length === 1_000);
  await rig.retryLogIsEmpty();
  await until('its share is free', () => dispatcher.stats()['retry_share_full'] === 0);
  await until('no bytes are counted', () => dispatcher.stats()['retry_bytes'] === 0);
});
