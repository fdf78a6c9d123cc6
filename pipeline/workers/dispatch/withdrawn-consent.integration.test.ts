import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { copied } from '../../../shared/contracts/events/testing/copied-record.ts';
import { encodeRetryRecord, replayTier } from '../../../shared/contracts/events/retry-record.ts';
import { retrySubject } from '../../../shared/contracts/subjects.ts';
import { reddit } from '../../../shared/destinations/reddit/destination.ts';
import { sampleEvent } from '../../../shared/destinations/sdk/sample-event.ts';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import { client } from '../../../shared/nats/connection/client.ts';
import { publish } from '../../../shared/nats/publish/publisher.ts';
import { ensureTopology, streams } from '../../../shared/nats/streams/topology.ts';
import type { ScriptedDestination } from '../../../shared/testing/scripted-destination.ts';
import { testTopology } from '../../../shared/testing/test-topology.ts';
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

const purpose = (destinationIds: readonly string[], own: Readonly<Record<string, unknown>> = {}) => ({
  id: 'advertising',
  name: 'Advertising',
  description: null,
  isEnabled: true,
  defaultState: 'Granted',
  regions: null,
  destinationIds,
  signals: null,
  ...own,
});

function configure(of: DispatcherRig, own: Readonly<Record<string, unknown>> = {}): void {
  of.configure({
    destinations: [httpEntity(of.destinationId, `${sink.url}/hook`)],
    consentSettings: [purpose([of.destinationId], own)],
  });
}

const events = (visitor: string, ...numbers: readonly number[]) =>
  numbers.map((n) => ({ id: `${visitor}:${n}`, visitor }));
const sentAfter = (n: number): string =>
  sink.requests
    .slice(n)
    .map(({ body }) => body)
    .join('\n');

/** Refuses advertising for a visitor, as an identify event does, and waits until the rig knows the refusal. */
async function refuse(visitorId: string): Promise<void> {
  await rig.sayConsent(visitorId, { advertising: false });
  const isKnown = (): boolean =>
    rig.erasures.lastWords(rig.accountId, { visitorId, receivedAtMs: Date.now() })?.get('advertising')?.isDenial ===
    true;
  await until('the refusal is known', isKnown);
}

test('consent: the consent of an event decides whether it is sent; a stop is counted, with the purpose as reason', async () => {
  const dispatcher = await rig.start();
  await rig.send([
    { id: 'granted', consent: { advertising: true } },
    { id: 'denied', consent: { advertising: false } },
    { id: 'silent' },
  ]);
  await rig.idle();
  expect(sink.taken().toSorted()).toEqual(['granted', 'silent']);
  expect(rig.notes.find(({ eventId }) => eventId === 'denied')).toMatchObject({
    outcome: 'stopped',
    reason: 'consent: Advertising',
    consent: [{ purpose: 'Advertising', isGranted: false, layer: 'event' }],
    attempts: 0,
  });
  expect(dispatcher.stats()).toMatchObject({
    consent_stopped: 1,
    'consent_stops:Advertising': 1,
    'consent_layers:event': 1,
    delivered: 2,
    dead_letters: 0,
    failed_attempts: 0,
  });
});

test('consent: a refusal stops events that wait for a retry, and the events behind them; other visitors’ events are sent in order', async () => {
  sink.answer(() => 503);
  const dispatcher = await rig.start({ retryPolicyOf: quickRetries });
  for (const n of [0, 1, 2]) await rig.send([...events('ann', n), ...events('bob', n)]);
  await until('they wait', () => dispatcher.stats()['events_parked'] === 4);
  await rig.idle();
  await refuse('ann');
  const sentBefore = sink.requests.length;
  sink.answer(() => 200);
  await until('the others arrived', () => sink.taken().length === 3);
  await rig.retryLogIsEmpty();
  expect(sink.taken()).toEqual(['bob:0', 'bob:1', 'bob:2']);
  expect(sentAfter(sentBefore)).not.toContain('ann');
  expect(dispatcher.stats()).toMatchObject({ consent_stopped: 3, delivered: 3, dead_letters: 0, events_parked: 0 });
  const stopped = rig.notes.filter(({ outcome }) => outcome === 'stopped');
  expect(stopped.map(({ eventId }) => eventId).toSorted()).toEqual(['ann:0', 'ann:1', 'ann:2']);
  expect(stopped[0]).toMatchObject({
    reason: 'consent: Advertising',
    consent: [{ purpose: 'Advertising', isGranted: false, layer: 'withdrawal' }],
  });
});

test('consent: a refusal stops events that wait in memory, and after a later grant new events are sent', async () => {
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
  await refuse('ann');
  release();
  await until('those of the other arrived', () => sink.taken().includes('bob:1'));
  await rig.idle();
  expect(sink.taken().toSorted()).toEqual(['ann:0', 'bob:0', 'bob:1']);
  expect(dispatcher.stats()).toMatchObject({ consent_stopped: 2, delivered: 3 });
  await rig.sayConsent('ann', { advertising: true });
  const ofAnn = { visitorId: 'ann', receivedAtMs: Date.now() };
  const isDenied = (): boolean => rig.erasures.lastWords(rig.accountId, ofAnn)?.get('advertising')?.isDenial === true;
  await until('the grant is known', () => !isDenied());
  await rig.send(events('ann', 3));
  await until('what came later arrived', () => sink.taken().includes('ann:3'));
});

test('consent: a replayed event is stopped by a refusal that came after the event', async () => {
  const dispatcher = await rig.start();
  await refuse('ann');
  const subject = retrySubject(rig.destinationId, replayTier);
  for (const visitor of ['ann', 'bob']) {
    const sample = sampleEvent({ id: `${visitor}:replayed`, account_id: rig.accountId, received_at: 1 });
    const event = { ...sample, visitor: { ...sample.visitor, id: visitor } };
    const times = { firstAttemptAt: 1, lastAttemptAt: 1, notBefore: 1 };
    const record = encodeRetryRecord({ attempts: 0, ...times, reason: 'replay', ...copied(event) });
    await publish(rig.connection, subject, Buffer.from(`${record}\n`), { msgId: randomUUID(), timeoutMs: 5_000 });
  }
  dispatcher.retriesStored(replayTier);
  await until('that of the other arrived', () => sink.taken().length === 1);
  await rig.retryLogIsEmpty();
  expect(sink.taken()).toEqual(['bob:replayed']);
  expect(dispatcher.stats()).toMatchObject({ consent_stopped: 1 });
});

test('consent: a dispatcher started after a refusal stops waiting events; the same visitor id in another account is not affected', async () => {
  const other = await createDispatcherRig(nats.url);
  configure(other);
  try {
    await rig.send(events('ann', 0));
    await other.send([{ id: 'of another account', visitor: 'ann' }]);
    await refuse('ann');
    const dispatchers = [await rig.start(), await other.start()];
    await until('it arrived', () => sink.taken().length === 1);
    await rig.idle();
    expect(sink.taken()).toEqual(['of another account']);
    expect(dispatchers.map((dispatcher) => dispatcher.stats()['consent_stopped'])).toEqual([1, 0]);
  } finally {
    await other.close();
  }
});

test('consent: a refusal no longer stops events once a later version disables its purpose', async () => {
  sink.answer(() => 503);
  const dispatcher = await rig.start({ retryPolicyOf: quickRetries });
  await rig.send(events('ann', 0));
  await until('it waits', () => dispatcher.stats()['retries'] === 1);
  await refuse('ann');
  sink.answer(() => 200);
  configure(rig, { isEnabled: false });
  await rig.send(events('ann', 1));
  await until('what came later arrived', () => sink.taken().includes('ann:1'));
  expect(sink.taken()).toEqual(['ann:0', 'ann:1']);
});

test('consent: no event is sent until withdrawals are known, and then all events are sent', async () => {
  await rig.connection[client].jsm.streams.delete(streams.withdrawals);
  await until('it is not known', () => !rig.erasures.isCurrent);
  const dispatcher = await rig.start();
  await rig.send(events('bob', 0));
  await until('it is held', () => dispatcher.stats()['events_held'] === 1);
  expect(dispatcher.stats()).toMatchObject({ erasures_unknown: 1, requests: 0 });
  await ensureTopology(rig.connection, testTopology({ streamBytesMax: 256 * 1024 ** 2 }));
  await until('it arrived', () => sink.taken().length === 1);
});

test('consent: with limited use set, an event opted out by a signal is still sent, and a later refusal stops it', async () => {
  const baseUrl = `${sink.url}/reddit`;
  const settings = { ...reddit.exampleSettings, baseUrl, onOptOut: 'limitedUse', order: 'visitor' };
  rig.configure({
    destinations: [httpEntity(rig.destinationId, '', { type: 'Reddit', settings })],
    consentSettings: [purpose([rig.destinationId], { signals: { gpc: 'always' } })],
  });
  sink.answer(() => 503);
  const dispatcher = await rig.start({ retryPolicyOf: quickRetries });
  const optedOut = { consent: { $gpc: true } };
  await rig.send([
    { id: 'bob:0', visitor: 'bob', ...optedOut },
    { id: 'ann:0', visitor: 'ann', ...optedOut },
  ]);
  await rig.send([
    { id: 'cid:0', visitor: 'cid' },
    { id: 'dan:0', visitor: 'dan', consent: { $gpc: true, advertising: false } },
  ]);
  await until('they wait', () => dispatcher.stats()['retries'] === 3);
  await refuse('ann');
  const before = sink.requests.length;
  sink.answer(() => 200);
  await until('they arrived', () => dispatcher.stats()['delivered'] === 2);
  await rig.retryLogIsEmpty();
  const sent = sentAfter(before);
  expect(sent).not.toContain('ann:0');
  expect(sent).toContain('bob:0');
  expect(sent).toContain('cid:0');
  expect(sent.split('"modes":["LDU"]')).toHaveLength(2);
  expect(dispatcher.stats()).toMatchObject({ limited_use: 1, consent_stopped: 2, delivered: 2 });
});

test('consent: a broken consent string grants nothing, and is counted', async () => {
  configure(rig, { signals: { tcf: { purposes: [1] }, gpp: ['saleOptOut'] } });
  const dispatcher = await rig.start();
  const broken = ['tcf', 'gpp', 'us_privacy'].map((name) => ({
    id: name,
    context: { [name]: 'x'.repeat(9_000) },
  }));
  await rig.send([...broken, { id: 'none' }]);
  await rig.idle();
  expect(sink.taken()).toEqual(['none']);
  expect(dispatcher.stats()).toMatchObject({ consent_stopped: 3 });
  expect(dispatcher.stats()['consent_unreadable']).toBeGreaterThanOrEqual(3);
  expect(rig.notes.find(({ eventId }) => eventId === 'tcf')?.consent).toMatchObject([{ detail: 'tcf, unreadable' }]);
});
