import { expect, test } from 'vitest';
import { encodeHealthRecord, recentHealthKey } from '../../../shared/contracts/health-record.ts';
import { encodePosition, positionKey } from '../../../shared/contracts/destination-position.ts';
import type { WrittenPlace } from '../../../shared/contracts/destination-position.ts';
import { dispatcherConsumer } from '../../../shared/contracts/subjects.ts';
import { client } from '../../../shared/nats/connection/client.ts';
import { bucketSettings } from '../../../shared/nats/buckets/open-buckets.ts';
import { openBucket } from '../../../shared/nats/buckets/bucket.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import type { ScriptedDestination } from '../../../shared/testing/scripted-destination.ts';
import { httpEntity } from '../../testing/account-config.ts';
import { until } from '../../../shared/testing/until.ts';
import { setBit } from './events/line-bits.ts';
import { OwnedPosition } from './lifecycle/owned-position.ts';
import type { DispatcherActor } from './dispatcher.ts';
import type { DispatcherRig } from './testing/dispatcher-rig.ts';
import { eachWithRig } from './testing/each-with-rig.ts';
import { quickRetries } from './testing/quick-retries.ts';

let sink: ScriptedDestination;
let rig: DispatcherRig;

eachWithRig((opened) => {
  ({ sink, rig } = opened);
  publish();
});

function publish(own: Readonly<Record<string, unknown>> = {}, publishedAtMs?: number): void {
  rig.configure({ destinations: [httpEntity(rig.destinationId, `${sink.url}/hook`, own)] }, publishedAtMs);
}

/** Simulates a restart of the only log server, which keeps consumers in memory. */
const loseConsumer = (): Promise<unknown> =>
  rig.connection[client].jsm.consumers.delete(streams.events, dispatcherConsumer(rig.destinationId));
const loseHealth = async (): Promise<void> => {
  for (const key of await rig.healthBucket.keys(`destination.${rig.destinationId}.>`))
    await rig.healthBucket.delete(key);
};
/** Delivers one event, stops the dispatcher, and stores five more events. */
async function leaveWaiting(): Promise<void> {
  const first = await rig.start();
  await rig.send([{ id: 'delivered' }]);
  await rig.idle();
  await first.stop(1_000);
  for (let n = 1; n <= 5; n += 1) await rig.send([{ id: `waiting-${n}` }]);
}
const waiting = [1, 2, 3, 4, 5].map((n) => `waiting-${n}`);

test('position: a destination continues from its position even without its health and consumer, whenever it was last published', async () => {
  await leaveWaiting();
  await loseHealth();
  await loseConsumer();
  const second = await rig.start({ publishedAtMs: Date.now() + 60_000 });
  await rig.idle();
  expect(sink.taken().toSorted()).toEqual(['delivered', ...waiting]);
  expect(second.stats()).toMatchObject({ positions_lost: 0, missed_events: 0 });
});

test('position: a missing position counts as lost, and events that may not have been delivered are recorded as skipped', async () => {
  await leaveWaiting();
  await rig.positionBucket.delete(positionKey(rig.destinationId));
  expect(await rig.health()).not.toHaveProperty('place');
  await loseConsumer();
  // The actor was first started with the first version; the newest version counts.
  publish({}, Date.now());
  const second = await rig.start();
  await until('what was there is skipped', () => second.stats()['missed_events'] === 6);
  await rig.send([{ id: 'afterwards' }]);
  await rig.idle();
  expect(sink.taken()).toEqual(['delivered', 'afterwards']);
  expect(second.stats()['positions_lost']).toBe(1);
  await second.stop(1_000);
  expect((await rig.health())?.skipped?.position_lost?.map(([, , events]) => events)).toEqual([6]);
  expect((await rig.position())?.lostAtMs).toBeGreaterThan(0);
});

test('position: events that wait in the retry log are sent although the position is lost', async () => {
  sink.answer(() => 503);
  const first = await rig.start({ retryPolicyOf: quickRetries });
  const ids = ['head', 'behind'];
  await rig.send(ids.map((id) => ({ id, visitor: 'v' })));
  const waitingIds = async (): Promise<string[]> => (await rig.retryRecords()).map(({ eventId }) => eventId);
  await until('both wait', async () => new Set(await waitingIds()).size === 2);
  await rig.idle();
  await first.stop(1_000);
  await rig.positionBucket.delete(positionKey(rig.destinationId));
  await loseConsumer();
  publish({}, Date.now());
  sink.answer(() => 200);
  const second = await rig.start({ retryPolicyOf: quickRetries });
  await until('both are delivered', () => sink.taken().length === 2);
  expect([sink.taken(), second.stats()['positions_lost']]).toEqual([ids, 1]);
});

test('position: if EVENTS ends before the position, settled events are not sent again, and later ones are', async () => {
  await leaveWaiting();
  await loseConsumer();
  const { place, ...entry } = (await rig.position()) ?? expect.unreachable();
  if (place === undefined) expect.unreachable();
  // Simulates a log that was restored from a backup: POSITIONS was copied after EVENTS.
  const ahead = encodePosition({ ...entry, place: { ...place, upTo: place.upTo + 1_000 } });
  await rig.positionBucket.put(positionKey(rig.destinationId), ahead);
  await rig.start();
  await rig.idle();
  expect(sink.taken().toSorted()).toEqual(['delivered', ...waiting]);
});

test('position: a position that an earlier build recorded with the destination’s health is adopted', async () => {
  await leaveWaiting();
  const { place } = (await rig.position()) ?? {};
  await rig.positionBucket.delete(positionKey(rig.destinationId));
  await loseConsumer();
  await loseHealth();
  const noted = { v: 1, minutes: [], lastDispatchedAt: null, place: place ?? expect.unreachable() } as const;
  await rig.healthBucket.put(recentHealthKey(rig.destinationId, 'another'), encodeHealthRecord(noted));
  const second = await rig.start({ publishedAtMs: Date.now() + 60_000 });
  await rig.idle();
  expect(sink.taken().toSorted()).toEqual(['delivered', ...waiting]);
  expect(second.stats()['positions_lost']).toBe(0);
});

test('position: a consumer of an earlier build, without a stored position, is taken over where it stopped', async () => {
  await leaveWaiting();
  await rig.positionBucket.delete(positionKey(rig.destinationId));
  await loseHealth();
  await rig.start({ publishedAtMs: Date.now() + 60_000 });
  await rig.idle();
  expect(sink.taken().toSorted()).toEqual(['delivered', ...waiting]);
});

const upTo = async (): Promise<number | undefined> => (await rig.position())?.place?.upTo;

/** Delivers one event, disables the destination, and passes five events. The stored position is before these. */
async function passDisabled(): Promise<DispatcherActor> {
  const dispatcher = await rig.start();
  await rig.send([{ id: 'delivered' }]);
  await rig.idle();
  publish({ status: 'Disabled' });
  for (let n = 1; n <= 5; n += 1) await rig.send([{ id: `passed-${n}` }]);
  await rig.idle();
  return dispatcher;
}
test('position: events that were passed while the destination was disabled are not sent after an attempt to open it that ended without a consumer', async () => {
  const dispatcher = await passDisabled();
  const entry = (await rig.positionBucket.get(positionKey(rig.destinationId)))?.value ?? expect.unreachable();
  await dispatcher.stop(1_000);
  // Simulates a process that was killed: the position is the last one that was stored while it ran.
  await rig.positionBucket.put(positionKey(rig.destinationId), entry);
  publish();
  const acked = { upTo: await rig.acknowledged(), above: [], storedUntilMs: Date.now() };
  await OwnedPosition.claim({ ...rig, bucket: rig.positionBucket, instanceId: 'one', publishedAtMs: 0 }, acked);
  await loseConsumer();
  await rig.start();
  await rig.send([{ id: 'afterwards' }]);
  await rig.idle();
  expect(sink.taken()).toEqual(['delivered', 'afterwards']);
});

test('position: a stop stores the position after events that were passed while the destination was disabled', async () => {
  const dispatcher = await passDisabled();
  await dispatcher.stop(1_000);
  await loseConsumer();
  publish();
  await rig.start();
  await rig.send([{ id: 'afterwards' }]);
  await rig.idle();
  expect(sink.taken()).toEqual(['delivered', 'afterwards']);
});

test('position: a publication stores the position after events that were passed while the destination was disabled', async () => {
  await passDisabled();
  publish();
  await until('the position is stored', async () => (await upTo()) === rig.frameSeqs.at(-1));
  expect(sink.taken()).toEqual(['delivered']);
});

test('position: a lost position stays lost until a new one is stored', async () => {
  await leaveWaiting();
  const options = { ...rig, bucket: rig.positionBucket, instanceId: 'one', publishedAtMs: 0 };
  await rig.positionBucket.delete(positionKey(rig.destinationId));
  expect((await OwnedPosition.claim(options, undefined)).isLost).toBe(true);
  const again = await OwnedPosition.claim(options, { upTo: 0, above: [], storedUntilMs: Date.now() });
  expect([again.isLost, await upTo()]).toEqual([true, undefined]);
});

test('position: a lost position stays lost until the events that its owner skips are settled', async () => {
  await leaveWaiting();
  const options = { ...rig, bucket: rig.positionBucket, instanceId: 'one', publishedAtMs: 0 };
  await rig.positionBucket.delete(positionKey(rig.destinationId));
  const place = { upTo: 0, above: [], storedUntilMs: 0, parts: [] };
  const first = await OwnedPosition.claim(options, undefined);
  first.skipUpTo = 5;
  await first.store({ ...place, upTo: 4 });
  const second = await OwnedPosition.claim(options, undefined);
  second.skipUpTo = 5;
  expect(second.isLost).toBe(true);
  await second.store({ ...place, upTo: 3, above: [1, 2] });
  await second.store({ ...place, upTo: 4 });
  expect([(await OwnedPosition.claim(options, undefined)).isLost, await upTo()]).toEqual([false, 4]);
});

test('position: an event counts as settled before a claim only if it was, whatever its owner settles', async () => {
  const options = { ...rig, bucket: rig.positionBucket, instanceId: 'one', publishedAtMs: 0 };
  const first = await OwnedPosition.claim(options, undefined);
  const parts: WrittenPlace['parts'] = [[3, 1, Buffer.of(0b01).toString('base64')]];
  await first.store({ upTo: 1, above: [], storedUntilMs: 1, parts });
  const position = await OwnedPosition.claim(options, undefined);
  const settled = (): boolean[] =>
    [
      { seq: 1, line: 0 },
      { seq: 3, line: 0 },
      { seq: 3, line: 1 },
      { seq: 4, line: 0 },
    ].map((origin) => position.hasSettled(origin));
  expect(settled()).toEqual([true, true, false, false]);
  // As the inbox does with a frame that it takes, and with frames that it hands back.
  setBit(position.parts.get(3)?.lines, 1);
  expect(settled()).toEqual([true, true, false, false]);
  position.parts.delete(3);
  position.parts.set(4, { seq: 4, storedAtMs: 1, lines: Uint8Array.of(0b01) });
  expect(settled()).toEqual([true, true, false, false]);
});

test('position: an owner of an earlier term writes nothing any more', async () => {
  const options = { ...rig, bucket: rig.positionBucket, instanceId: 'one', publishedAtMs: 0 };
  const earlier = await OwnedPosition.claim(options, undefined);
  const place = { upTo: 1, above: [], storedUntilMs: 1, parts: [] };
  await earlier.store(place);
  const later = await OwnedPosition.claim({ ...options, instanceId: 'two' }, undefined);
  expect(later.term).toBe(earlier.term + 1);
  await expect(earlier.store({ ...place, upTo: 9 })).rejects.toMatchObject({ code: 'consumer_taken' });
  await later.store({ ...place, upTo: 2 });
  expect(await rig.position()).toMatchObject({ owner: 'two', place: { upTo: 2 } });
});

test('position: a dispatcher ends if another one claims its destination, even if the other one does not read its consumer', async () => {
  const dispatcher = await rig.start();
  const ended = dispatcher.done.then(
    () => undefined,
    (error: unknown) => error,
  );
  await OwnedPosition.claim({ ...rig, bucket: rig.positionBucket, instanceId: 'two', publishedAtMs: 0 }, undefined);
  await rig.send([{ id: 'one' }]);
  expect(await ended).toMatchObject({ code: 'consumer_taken' });
});

test('position: an answer that was lost on its way does not end the owner', async () => {
  let isAnswerLost = true;
  const bucket: typeof rig.positionBucket = {
    ...rig.positionBucket,
    async putIfUnchanged(...entry) {
      const revision = await rig.positionBucket.putIfUnchanged(...entry);
      if (entry[2] === 0 || !isAnswerLost) return revision;
      isAnswerLost = false;
      throw new Error('no answer');
    },
  };
  const position = await OwnedPosition.claim({ ...rig, bucket, instanceId: 'one', publishedAtMs: 0 }, undefined);
  const place = { upTo: 1, above: [], storedUntilMs: 1, parts: [] };
  await expect(position.store(place)).rejects.toThrow('no answer');
  await position.store({ ...place, upTo: 2 });
  expect((await rig.position())?.place?.upTo).toBe(2);
});

test('position: a full bucket refuses new entries and keeps all existing ones', async () => {
  const settings = { ...bucketSettings(1).positions, name: 'POSITIONS_SMALL', bytesMax: 64 * 1024 };
  const bucket = await openBucket(rig.connection, settings);
  const entry = Buffer.alloc(4_000);
  const fill = async (): Promise<void> => {
    for (let n = 0; n < 64; n += 1) await bucket.put(`destination.${n}`, entry);
  };
  await expect(fill()).rejects.toMatchObject({ code: 'publish_failed' });
  await expect(bucket.putIfUnchanged('destination.new', entry, 0)).rejects.toMatchObject({ code: 'publish_failed' });
  expect((await bucket.get('destination.0'))?.value).toHaveLength(entry.length);
});
