import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { retrySubject } from '../../../shared/contracts/subjects.ts';
import { copied } from '../../../shared/contracts/events/testing/copied-record.ts';
import { encodeRetryRecord, replayTier } from '../../../shared/contracts/events/retry-record.ts';
import { publishWithRetry } from '../../../shared/nats/publish/publisher.ts';
import { sampleEvent } from '../../../shared/destinations/sdk/sample-event.ts';
import type { TestCollections } from '../../../shared/testing/test-account-config.ts';
import { httpEntity } from '../../testing/account-config.ts';
import { idsOf } from '../../../shared/testing/scripted-destination.ts';
import type { ScriptedDestination } from '../../../shared/testing/scripted-destination.ts';
import { until } from '../../../shared/testing/until.ts';
import type { DispatcherActor } from './dispatcher.ts';
import type { DispatcherRig } from './testing/dispatcher-rig.ts';
import { eachWithRig } from './testing/each-with-rig.ts';
import { quickRetries } from './testing/quick-retries.ts';

let sink: ScriptedDestination;
let rig: DispatcherRig;

eachWithRig((opened) => ({ sink, rig } = opened));

type Own = { readonly settings?: Readonly<Record<string, unknown>>; readonly [field: string]: unknown };

const versionOf = (path: string, own: Own = {}, more: TestCollections = {}): TestCollections => ({
  destinations: [httpEntity(rig.destinationId, `${sink.url}/${path}`, own)],
  ...more,
});
const mapping = (own: Readonly<Record<string, unknown>>) => ({
  id: 'm1',
  destinationId: rig.destinationId,
  priority: 1,
  isEnabled: true,
  logic: null,
  eventName: null,
  mappings: [],
  ...own,
});
const visitorA = (...numbers: readonly number[]) => numbers.map((n) => ({ id: `a:${n}`, visitor: 'a' }));
const sentIds = (): string[] => sink.requests.flatMap(({ body }) => idsOf(body));

/** `opened` resolves once `open` is called. */
function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Versions in which the destination gets none of the events of these tests, and how health counts such an event. */
const stops: readonly (readonly [string, () => TestCollections, 'stopped' | 'globalStop' | undefined])[] = [
  ['a mapping that stops', () => versionOf('v2', {}, { mappings: [mapping({ action: 'stop' })] }), 'stopped'],
  [
    'a global dispatch rule',
    () => {
      const logic = { condition: { property: 'event.event', operator: 'Is', value: 'Order' } };
      const category = { name: 'c', priority: 1, destinationIds: [rig.destinationId], logic };
      return versionOf('v2', {}, { globalDispatchCenters: [{ id: 'g', isEnabled: true, categories: [category] }] });
    },
    'globalStop',
  ],
  [
    'allowed events without it',
    () => versionOf('v2', {}, { allowedEvents: [{ id: 'e', name: 'Order', destinationIds: ['another'] }] }),
    undefined,
  ],
  ['limitedToSourceIds without its source', () => versionOf('v2', { limitedToSourceIds: ['another'] }), undefined],
];

describe.each(stops)('live version: %s', (_change, publish, countedAs) => {
  const counted = async (before: number): Promise<void> => {
    if (countedAs === undefined) return;
    const place = countedAs === 'stopped' ? 2 : 3;
    await until('health has it', async () => (await rig.counted())[place] === before);
  };

  test('applies to events that wait in memory behind a request in flight', async () => {
    rig.configure(versionOf('v1'));
    const { opened, open } = gate();
    sink.answer(() => opened.then(() => 200));
    const dispatcher = await rig.start();
    await rig.send(visitorA(0, 1, 2));
    await until('all are in memory', () => sink.requests.length === 1 && dispatcher.stats()['events_held'] === 3);
    rig.configure(publish());
    open();
    await rig.idle();
    expect(sentIds()).toEqual(['a:0']);
    expect(dispatcher.stats()).toMatchObject({ events_held: 0, visitors_waiting: 0 });
    await counted(2);
  });

  test('applies to retries and to events parked behind them', async () => {
    rig.configure(versionOf('v1'));
    sink.answer(() => 503);
    const dispatcher = await rig.start({ retryPolicyOf: quickRetries });
    await rig.send(visitorA(0, 1, 2));
    await until('the others are parked', () => dispatcher.stats()['events_parked'] === 2);
    rig.configure(publish());
    await until('what was on the wire is back', () => dispatcher.stats()['requests_in_flight'] === 0);
    const sentBefore = sink.requests.length;
    await rig.retryLogIsEmpty();
    await until('no visitor waits', () => dispatcher.stats()['visitors_waiting'] === 0);
    expect(sink.requests).toHaveLength(sentBefore);
    expect(await rig.deadLetters()).toEqual([]);
    await counted(3);
  });

  test('applies to a replay', async () => {
    rig.configure(publish());
    const dispatcher = await rig.start();
    await replay(['old'], dispatcher);
    await rig.retryLogIsEmpty();
    expect(sentIds()).toEqual([]);
    await counted(1);
  });
});

/** Puts events into the replay tier, as a replay does. */
async function replay(ids: readonly string[], dispatcher: DispatcherActor): Promise<void> {
  const at = Date.now();
  const times = { firstAttemptAt: at, lastAttemptAt: at, notBefore: at };
  const lines = ids.map((id) =>
    encodeRetryRecord({ attempts: 0, ...times, reason: 'replay', ...copied(sampleEvent({ id, event: 'Order' })) }),
  );
  const message = {
    subject: retrySubject(rig.destinationId, replayTier),
    payload: Buffer.from(`${lines.join('\n')}\n`),
  };
  await publishWithRetry(rig.connection, { ...message, msgId: randomUUID() }, { attemptsMax: 20 });
  dispatcher.retriesStored(replayTier);
}

test('live version: the waiting events of a removed destination are not sent', async () => {
  rig.configure(versionOf('v1'));
  const { opened, open } = gate();
  sink.answer(() => opened.then(() => 200));
  const dispatcher = await rig.start();
  await rig.send(visitorA(0, 1, 2));
  await until('all are in memory', () => sink.requests.length === 1 && dispatcher.stats()['events_held'] === 3);
  rig.configure({ destinations: [] });
  open();
  await until('the answer is there', () => dispatcher.stats()['delivered'] === 1);
  await dispatcher.stop(200);
  expect(sentIds()).toEqual(['a:0']);
});

test('live version: each request is made by a single version, the version that is live when it is sent', async () => {
  const version = (n: number, batchSize: string): TestCollections => {
    const mappings = [{ property: `by${n}`, map: '{{visitor.email}}', modification: n % 2 === 0 ? 'Hash' : 'None' }];
    return versionOf(`v${n}`, { settings: { batchSize } }, { mappings: [mapping({ action: 'send', mappings })] });
  };
  rig.configure(version(0, '5'));
  const lastVersion = 12;
  let live = 0;
  const answers: (() => void)[] = [];
  const liveAt: number[] = [];
  sink.answer(() => {
    liveAt.push(live);
    const { opened, open } = gate();
    answers.push(open);
    // Some requests fail, so that at each change some events are in lanes, some wait for retries, and some are parked.
    const isFailing = live < lastVersion && sink.requests.length % 3 === 0;
    return opened.then(() => (isFailing ? 503 : 200));
  });
  const dispatcher = await rig.start({ retryPolicyOf: quickRetries });
  const ids = Array.from({ length: 120 }, (_, i) => `${'abcd'[i % 4] ?? ''}:${i}`);
  for (let from = 0; from < ids.length; from += 20) {
    await rig.send(ids.slice(from, from + 20).map((id) => ({ id, visitor: id.split(':')[0] ?? '' })));
  }
  for (let n = 1; n <= lastVersion; n += 1) {
    await until(
      'requests are at the destination, and none on its way there',
      () => answers.length > 0 && dispatcher.stats()['requests_in_flight'] === answers.length,
    );
    live = n;
    rig.configure(version(n, n % 3 === 0 ? '1' : '5'));
    for (const open of answers.splice(0)) open();
  }
  const openAll = setInterval(() => answers.splice(0).forEach((open) => open()), 5);
  try {
    await rig.idle();
    await rig.retryLogIsEmpty();
  } finally {
    clearInterval(openAll);
  }
  expect(new Set(sink.taken())).toEqual(new Set(ids));
  for (const [index, { path, body }] of sink.requests.entries()) {
    const events = [JSON.parse(body) as unknown].flat() as { readonly event: { readonly event_properties: object } }[];
    const made = new Set(events.flatMap(({ event }) => Object.keys(event.event_properties)));
    expect([...made], `${path}: ${body}`).toEqual([`by${path.slice(2)}`]);
    expect(path).toBe(`/v${liveAt[index]}`);
  }
  expect(dispatcher.stats()).toMatchObject({ events_held: 0, visitors_waiting: 0, events_parked: 0 });
});
