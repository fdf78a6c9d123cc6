import { expect, onTestFinished, test } from 'vitest';
import { client } from '../../../shared/nats/connection/client.ts';
import { ensureTopology, streams } from '../../../shared/nats/streams/topology.ts';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import { testTopology } from '../../../shared/testing/test-topology.ts';
import { idsOf } from '../../../shared/testing/scripted-destination.ts';
import type { ScriptedDestination } from '../../../shared/testing/scripted-destination.ts';
import { httpEntity } from '../../testing/account-config.ts';
import { until } from '../../../shared/testing/until.ts';
import { createDispatcherRig } from './testing/dispatcher-rig.ts';
import type { DispatcherRig } from './testing/dispatcher-rig.ts';
import { eachWithRig } from './testing/each-with-rig.ts';
import { quickRetries } from './testing/quick-retries.ts';

let nats: NatsServer;
let sink: ScriptedDestination;
let rig: DispatcherRig;

eachWithRig((opened) => {
  ({ nats, sink, rig } = opened);
  configure(rig);
});

function configure(of: DispatcherRig): void {
  of.configure({ destinations: [httpEntity(of.destinationId, `${sink.url}/hook`)] });
}

const events = (visitor: string, ...numbers: readonly number[]) =>
  numbers.map((n) => ({ id: `${visitor}:${n}`, visitor }));
const bodiesFrom = (n: number): string =>
  sink.requests
    .slice(n)
    .map(({ body }) => body)
    .join('\n');

/** Announces an erasure, and waits until the rig knows of it. */
async function erase(visitorId: string, atMs = Date.now()): Promise<void> {
  await rig.erase([visitorId], atMs);
  const isKnown = (): boolean => rig.erasures.isErased(rig.accountId, { visitorId, receivedAtMs: atMs });
  await until('the erasure is known', isKnown);
}

test('erased visitors: events that wait for a retry, and events behind them, are not sent; other visitors’ events are sent in order', async () => {
  sink.answer(() => 503);
  const dispatcher = await rig.start({ retryPolicyOf: quickRetries });
  for (const n of [0, 1, 2]) await rig.send([...events('ann', n), ...events('bob', n)]);
  await until('they wait', () => dispatcher.stats()['events_parked'] === 4);
  await rig.idle();
  await erase('ann');
  const sentBefore = sink.requests.length;
  sink.answer(() => 200);
  await until('the others arrived', () => sink.taken().length === 3);
  await rig.retryLogIsEmpty();
  expect(sink.taken()).toEqual(['bob:0', 'bob:1', 'bob:2']);
  expect(bodiesFrom(sentBefore)).not.toContain('ann');
  expect(dispatcher.stats()).toMatchObject({ erased: 3, delivered: 3, dead_letters: 0, events_parked: 0 });
  expect(rig.notes.filter(({ reason }) => reason === 'erased')).toMatchObject(
    events('ann', 0, 1, 2).map(({ id }) => ({ eventId: id, outcome: 'stopped' })),
  );
  await dispatcher.stop(1_000);
  const [succeeded, failed, stopped] = await rig.counted();
  expect([succeeded, stopped, (failed ?? 0) > 0]).toEqual([3, 3, true]);
});

test('erased visitors: events that wait in memory are not sent', async () => {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  sink.answer(async () => {
    await released;
    return 200;
  });
  const dispatcher = await rig.start();
  await rig.send([...events('ann', 0, 1, 2), ...events('bob', 0, 1)]);
  const isWaiting = (): boolean => sink.requests.length === 2 && dispatcher.stats()['events_held'] === 5;
  await until('the first of each are on the wire, and the others wait', isWaiting);
  await erase('ann');
  release();
  await until('those of the other arrived', () => sink.taken().includes('bob:1'));
  await rig.idle();
  expect(sink.taken().toSorted()).toEqual(['ann:0', 'bob:0', 'bob:1']);
  expect(dispatcher.stats()).toMatchObject({ erased: 2, delivered: 3 });
});

test.each([
  ['to be tried again', 503],
  ['never to be tried again', 400],
])('erased visitors: an event that fails in flight, %s, is not kept anywhere', async (_what, status) => {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  sink.answer(async ({ body }) => {
    if (!idsOf(body).includes('ann:0')) return 200;
    await released;
    return status;
  });
  const dispatcher = await rig.start();
  await rig.send([...events('ann', 0, 1), ...events('bob', 0)]);
  await until('it is on the wire', () => sink.requests.length === 2);
  await erase('ann');
  release();
  await rig.idle();
  expect(sink.taken()).toEqual(['bob:0']);
  expect(await rig.deadLetters()).toEqual([]);
  expect((await rig.retries()).size).toBe(0);
  expect(dispatcher.stats()).toMatchObject({ erased: 2, failed_attempts: 1, dead_letters: 0, retries: 0, parked: 0 });
});

test('erased visitors: a dispatcher that starts after the erasure sends none of their events, wherever these waited', async () => {
  sink.answer(() => 503);
  const first = await rig.start();
  await rig.send([...events('ann', 0, 1), ...events('bob', 0)]);
  await until('they wait', () => first.stats()['visitors_waiting'] === 2);
  await rig.idle();
  await first.stop(1_000);
  await rig.send([...events('ann', 2), ...events('bob', 1)]);
  await rig.erase(['ann']);
  await rig.close();
  const sentBefore = sink.requests.length;
  sink.answer(() => 200);
  rig = await reopen(rig);
  onTestFinished(() => rig.close());
  const second = await rig.start({ retryPolicyOf: quickRetries });
  await until('the others arrived', () => sink.taken().length === 2, 60_000);
  await rig.retryLogIsEmpty();
  expect(sink.taken()).toEqual(['bob:0', 'bob:1']);
  expect(bodiesFrom(sentBefore)).not.toContain('ann');
  expect(second.stats()).toMatchObject({ erased: 3 });
});

/** Opens a second rig for the same account and destination, with its own connection and its own view of erasures. */
async function reopen({ accountId, destinationId }: DispatcherRig): Promise<DispatcherRig> {
  const opened = await createDispatcherRig(nats.url, { accountId, destinationId });
  configure(opened);
  return opened;
}

test('erased visitors: an event received later is delivered, and so is one of another account with the same visitor id', async () => {
  const other = await createDispatcherRig(nats.url);
  configure(other);
  try {
    const atMs = Date.now();
    await erase('ann', atMs);
    const dispatchers = [await rig.start(), await other.start()];
    const received = (id: string, receivedAtMs: number) => ({ id, visitor: 'ann', receivedAtMs });
    await rig.send([received('before', atMs - 1), received('then', atMs), received('after', atMs + 1)]);
    await other.send([received('of another account', atMs - 1)]);
    await until('they arrived', () => sink.taken().length === 2);
    await rig.idle();
    expect(sink.taken().toSorted()).toEqual(['after', 'of another account']);
    expect(dispatchers.map((dispatcher) => dispatcher.stats()['erased'])).toEqual([2, 0]);
  } finally {
    await other.close();
  }
});

test('erased visitors: a pending erasure covers events up to a time ahead; once finished, only up to its own time', async () => {
  const dispatcher = await rig.start();
  const id = 'one erasure';
  const inAMinute = Date.now() + 60_000;
  await rig.erase(['ann'], inAMinute, { id, isAhead: true });
  const isErased = (receivedAtMs: number): boolean =>
    rig.erasures.isErased(rig.accountId, { visitorId: 'ann', receivedAtMs });
  await until('it is known', () => isErased(inAMinute));
  const atMs = Date.now();
  await rig.erase(['ann'], atMs, { id });
  await until('it holds for its own time', () => !isErased(atMs + 1));
  expect(isErased(atMs)).toBe(true);
  await rig.send([{ id: 'back', visitor: 'ann', receivedAtMs: atMs + 1 }]);
  await until('it arrived', () => sink.taken().length === 1);
  expect(dispatcher.stats()).toMatchObject({ erased: 0 });
});

test('erased visitors: no event is sent while erasures are unknown, and all events are sent once they are known', async () => {
  const { jsm } = rig.connection[client];
  await jsm.streams.delete(streams.erasures);
  await until('it is not known', () => !rig.erasures.isCurrent);
  const dispatcher = await rig.start();
  await rig.send(events('bob', 0, 1));
  await until('they are held', () => dispatcher.stats()['events_held'] === 1);
  expect(dispatcher.stats()).toMatchObject({ erasures_unknown: 1, requests: 0 });
  await ensureTopology(rig.connection, testTopology({ streamBytesMax: 256 * 1024 ** 2 }));
  // The destination receives an event before the dispatcher counts the answer.
  await until('they are delivered', () => dispatcher.stats()['delivered'] === 2);
  expect(sink.taken()).toHaveLength(2);
  expect(dispatcher.stats()).toMatchObject({ erasures_unknown: 0 });
});
