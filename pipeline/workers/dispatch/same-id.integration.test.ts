import { expect, test } from 'vitest';
import { parkedTier } from '../../../shared/contracts/events/retry-record.ts';
import { purgeSubject } from '../../../shared/nats/messages/subject-log.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { httpEntity } from '../../testing/account-config.ts';
import { idsOf } from '../../../shared/testing/scripted-destination.ts';
import type { ScriptedDestination } from '../../../shared/testing/scripted-destination.ts';
import { until } from '../../../shared/testing/until.ts';
import { defaultSettings } from './testing/dispatcher-rig.ts';
import type { DispatcherRig } from './testing/dispatcher-rig.ts';
import { eachWithRig } from './testing/each-with-rig.ts';
import { quickRetries } from './testing/quick-retries.ts';

let sink: ScriptedDestination;
let rig: DispatcherRig;

eachWithRig((opened) => ({ sink, rig } = opened));

function publishDestination(settings: Readonly<Record<string, unknown>> = {}): void {
  rig.configure({ destinations: [httpEntity(rig.destinationId, `${sink.url}/hook`, { settings })] });
}

type Sent = { readonly event: { readonly id: string }; readonly visitor: { readonly id: string } };
const sentIn = (body: string): string[] =>
  ([JSON.parse(body) as unknown].flat() as Sent[]).map(({ event, visitor }) => `${event.id} of ${visitor.id}`);
/** Three events with the same id: one of Ann, and two of Bob from different sources. */
const signups = [
  { id: 'signup', visitor: 'ann', source: 'web' },
  { id: 'signup', visitor: 'bob', source: 'web' },
  { id: 'signup', visitor: 'bob', source: 'server' },
] as const;

test.each([
  ['in one batch', '10'],
  ['in requests of their own', '1'],
])('events of one id: refused %s: each event is a dead letter', async (_what, batchSize) => {
  publishDestination({ batchSize });
  sink.answer(() => 400);
  const dispatcher = await rig.start();
  await rig.send(signups);
  await rig.send([{ id: 'signup', visitor: 'ann', source: 'web' }]);
  await rig.idle();
  const letters = await rig.deadLetters();
  expect(letters.map(({ event }) => event.visitor.id).toSorted()).toEqual(['ann', 'ann', 'bob', 'bob']);
  expect(new Set(letters.map(({ origin }) => `${origin?.seq}.${origin?.line}`)).size).toBe(4);
  expect(dispatcher.stats()['dead_letters']).toBe(4);
});

test.each(['visitor', 'none'])(
  'events of one id: retried, order %s: each event arrives, and so do the events behind them',
  async (order) => {
    publishDestination({ order });
    let isDown = true;
    const taken: string[] = [];
    sink.answer(({ body }) => {
      if (isDown) return 503;
      taken.push(...sentIn(body));
      return 200;
    });
    const dispatcher = await rig.start({ retryPolicyOf: quickRetries });
    const stats = () => dispatcher.stats();
    for (const [index, signup] of signups.entries()) {
      await rig.send([signup]);
      await until('it waits', () => (stats()['retries'] ?? 0) + (stats()['parked'] ?? 0) > index);
    }
    await rig.idle();
    await rig.send([
      { id: 'later', visitor: 'ann' },
      { id: 'later', visitor: 'bob' },
    ]);
    isDown = false;
    await until('all arrived', () => taken.length >= 5);
    await rig.retryLogIsEmpty();
    const expected = ['later of ann', 'later of bob', 'signup of ann', 'signup of bob', 'signup of bob'];
    expect(taken.toSorted()).toEqual(expected);
    if (order === 'visitor') {
      const ofBob = taken.filter((each) => each.endsWith('bob'));
      expect(ofBob).toEqual(['signup of bob', 'signup of bob', 'later of bob']);
    }
    expect(stats()).toMatchObject({ visitors_waiting: 0, events_parked: 0, already_waiting: 0, retries_lost: 0 });
  },
);

test('events of one id: after one dispatcher parked them, the next one sends each of them', async () => {
  publishDestination();
  sink.answer(() => 503);
  const first = await rig.start();
  await rig.send(signups);
  await rig.send([{ id: 'signup', visitor: 'bob', source: 'third' }]);
  await until('all wait', () => first.stats()['visitors_waiting'] === 2 && first.stats()['events_parked'] === 2);
  await rig.idle();
  await first.stop(1_000);
  const taken: string[] = [];
  sink.answer(({ body }) => {
    taken.push(...sentIn(body));
    return 200;
  });
  const next = await rig.start();
  await until('all arrived', () => taken.length >= 4);
  await rig.retryLogIsEmpty();
  expect(taken.toSorted()).toEqual(['signup of ann', 'signup of bob', 'signup of bob', 'signup of bob']);
  expect(next.stats()).toMatchObject({ visitors_waiting: 0, events_parked: 0 });
});

test('lost retries: events that wait for a retry that was purged from the log are sent, and the lost retry is counted', async () => {
  publishDestination();
  sink.answer(({ body }) => (idsOf(body).some((id) => id.startsWith('first')) ? 503 : 200));
  const dispatcher = await rig.start({ ...defaultSettings, lostHeadsEveryMs: 100 });
  await rig.send([
    { id: 'first:a', visitor: 'a' },
    { id: 'first:b', visitor: 'b' },
  ]);
  await rig.send([{ id: 'second:a', visitor: 'a' }]);
  await until('it is parked', () => dispatcher.stats()['events_parked'] === 1 && dispatcher.stats()['retries'] === 2);
  await rig.idle();
  expect(dispatcher.stats()['retries_lost']).toBe(0);
  // An operator purges all waiting events except the parked one. An event in an attempt is stored again, so the purge
  // is repeated.
  const purgeRetries = async (): Promise<void> => {
    const subjects = [...(await rig.retries()).keys()].filter((subject) => !subject.endsWith(`.${parkedTier}`));
    for (const subject of subjects) await purgeSubject(rig.connection, streams.retry, subject);
  };
  await until('no visitor waits', async () => {
    await purgeRetries();
    return dispatcher.stats()['visitors_waiting'] === 0;
  });
  await until('what is behind arrived', () => sink.taken().includes('second:a'));
  expect(dispatcher.stats()['retries_lost']).toBe(2);
});
