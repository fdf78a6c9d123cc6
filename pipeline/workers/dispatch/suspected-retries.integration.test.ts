import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { copied } from '../../../shared/contracts/events/testing/copied-record.ts';
import { encodeRetryRecord, parkedTier, replayTier } from '../../../shared/contracts/events/retry-record.ts';
import { retrySubject } from '../../../shared/contracts/subjects.ts';
import { sampleEvent } from '../../../shared/destinations/sdk/sample-event.ts';
import { publishWithRetry } from '../../../shared/nats/publish/publisher.ts';
import { idsOf } from '../../../shared/testing/scripted-destination.ts';
import type { ScriptedDestination } from '../../../shared/testing/scripted-destination.ts';
import { httpEntity } from '../../testing/account-config.ts';
import { until } from '../../../shared/testing/until.ts';
import { noSuspicion, quarantineReason } from '../worker/suspicion.ts';
import type { LogSuspicion, Suspicion } from '../worker/suspicion.ts';
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

/** Puts a frame of events into a tier of the retry log; their ids are `<visitor>:<name>`. Returns its sequence. */
async function put(tier: number, ids: readonly string[]): Promise<number> {
  const at = Date.now();
  const times = { firstAttemptAt: at, lastAttemptAt: at, notBefore: at };
  const lines = ids.map((id) => {
    const sample = sampleEvent({ id });
    const [visitor = ''] = id.split(':');
    const event = { ...sample, visitor: { ...sample.visitor, id: visitor } };
    return encodeRetryRecord({ attempts: 1, ...times, reason: 'test', ...copied(event) });
  });
  const message = { subject: retrySubject(rig.destinationId, tier), payload: Buffer.from(`${lines.join('\n')}\n`) };
  return (await publishWithRetry(rig.connection, { ...message, msgId: randomUUID() }, { attemptsMax: 20 })).seq;
}

const suspecting = (retry: Partial<LogSuspicion>): { readonly suspicion: Suspicion } => ({
  suspicion: { ...noSuspicion, retry: { watched: undefined, quarantined: [], ...retry } },
});
const everything = { from: 1, to: Number.MAX_SAFE_INTEGER };
const takenOf = (visitor: string): string[] => sink.taken().filter((id) => id.startsWith(`${visitor}:`));

test('suspected retries: each suspected retry is sent with nothing else in flight, and fresh events go between them', async () => {
  sink.answer(() => ({ status: 200, delayMs: 20 }));
  const seqs = [await put(0, ['a:1', 'b:1']), await put(1, ['c:1']), await put(replayTier, ['d:1'])];
  const parked = await put(parkedTier, ['a:2', 'c:2', 'a:3']);
  await rig.start(suspecting({ watched: everything }));
  const fresh: string[] = [];
  for (let i = 0; i < 10; i += 1) {
    fresh.push(`f${i}:1`);
    await rig.send([{ id: `f${i}:1` }, { id: `a:fresh${i}`, visitor: 'a' }]);
  }
  await rig.retryLogIsEmpty();
  const all = [...fresh, 'a:1', 'b:1', 'c:1', 'd:1', 'a:2', 'c:2', 'a:3', ...fresh.map((_, i) => `a:fresh${i}`)];
  await until('all arrived', () => all.every((id) => sink.taken().includes(id)));
  expect(takenOf('a')).toEqual(['a:1', 'a:2', 'a:3', ...fresh.map((_, i) => `a:fresh${i}`)]);
  expect(takenOf('c')).toEqual(['c:1', 'c:2']);
  const turns = rig.turns.flatMap((frames) => (frames?.retry === undefined ? [] : [frames]));
  for (const seq of seqs) expect(turns).toContainEqual({ retry: { from: seq, to: seq } });
  for (const line of [0, 1, 2]) expect(turns).toContainEqual({ retry: { from: parked, to: parked, line } });
  expect(turns.filter(({ log, retry }) => log !== undefined || retry?.from !== retry?.to)).toEqual([]);
  expect(await rig.deadLetters()).toEqual([]);
});

test('suspected retries: a quarantined retry becomes a reported dead letter with its attempts, and the events after it are sent', async () => {
  const deadly = await put(0, ['a:1', 'b:1']);
  await put(0, ['c:1']);
  const parked = await put(parkedTier, ['a:2', 'a:3', 'c:2']);
  const replayed = await put(replayTier, ['d:1']);
  const quarantined = [{ seq: deadly }, { seq: parked, line: 1 }, { seq: replayed }];
  const dispatcher = await rig.start(suspecting({ quarantined }));
  await rig.retryLogIsEmpty();
  expect(sink.taken().toSorted()).toEqual(['a:2', 'c:1', 'c:2']);
  const letters = await rig.deadLetters();
  expect(letters.map(({ event }) => event.event.id).toSorted()).toEqual(['a:1', 'a:3', 'b:1', 'd:1']);
  for (const letter of letters) expect(letter).toMatchObject({ attempts: 1, reason: quarantineReason });
  expect(dispatcher.stats()).toMatchObject({ dead_letters: 4, dead_letters_set_aside: 4, visitors_waiting: 0 });
  expect(rig.notes).toContainEqual(expect.objectContaining({ eventId: 'a:1', outcome: 'rejected', attempts: 1 }));
});

test('suspected retries: a retry that hangs delays the other events until its request ends', async () => {
  sink.answer(({ body }) => (idsOf(body).includes('stuck:1') ? 'hang' : 200));
  await put(0, ['stuck:1']);
  await put(0, ['a:1']);
  await rig.start({
    ...suspecting({ watched: everything }),
    sender: { ...defaultSettings.sender, headersTimeoutMs: 300 },
  });
  await until('it is under way', () => sink.requests.length === 1);
  await rig.send([{ id: 'fresh:1' }]);
  await until('all others arrived', () => sink.taken().length === 2);
  expect(sink.taken().toSorted()).toEqual(['a:1', 'fresh:1']);
});

test('suspected retries: a destination that fails and recovers gets all events', async () => {
  let isWell = false;
  sink.answer(() => (isWell ? 200 : 503));
  const dispatcher = await rig.start(suspecting({ watched: everything }));
  for (let i = 0; i < 10; i += 1) await rig.send([{ id: `v${i}:1` }, { id: `v${i}:2`, visitor: `v${i}:1` }]);
  await until('the breaker is open', () => dispatcher.stats()['breaker_open'] === 1);
  isWell = true;
  // Counts distinct ids, since an event may be sent twice, as after a lost answer.
  await until('all arrived', () => new Set(sink.taken()).size === 20);
  await rig.retryLogIsEmpty();
  expect(await rig.deadLetters()).toEqual([]);
});

test('suspected retries: frames handed back while a retry is isolated go before frames that arrived meanwhile', async () => {
  let isDown = false;
  sink.answer(({ body }) => {
    if (idsOf(body).includes('suspect:1')) {
      isDown = true;
      return 'hang';
    }
    return isDown ? 503 : { status: 200, delayMs: 100 };
  });
  await rig.send(Array.from({ length: 100 }, (_, n) => ({ id: `busy${n}:1` })));
  await rig.send([{ id: 'a:1' }]);
  const dispatcher = await rig.start({
    ...suspecting({ watched: everything }),
    concurrency: 2,
    sender: { ...defaultSettings.sender, totalTimeoutMs: 1_000 },
  });
  await until('both frames are in flight', () => dispatcher.stats()['frames'] === 2);
  await put(0, ['suspect:1']);
  dispatcher.retriesStored(0);
  // Long enough for the suspected frame to be read, and too short for it to be taken.
  await wait(300);
  await rig.send([{ id: 'a:2', visitor: 'a:1' }]);
  await until('the breaker is open', () => dispatcher.stats()['breaker_open'] === 1);
  sink.answer(() => 200);
  await until('both arrived', () => takenOf('a').length === 2);
  expect(takenOf('a')).toEqual(['a:1', 'a:2']);
});

test('suspected retries: with no room left in the retry log, suspected retries are still isolated, and sending them frees room', async () => {
  publishDestination({ order: 'none' });
  let isWell = false;
  let requests = 0;
  sink.answer(() => ((requests += 1) % 2 === 0 || isWell ? 200 : 500));
  const retryQuota = { bytesMax: 64 * 1024, account: 1, all: 1 };
  const first = await rig.start({ concurrency: 4, retryQuota });
  for (let i = 0; i < 40; i += 1) await rig.send(Array.from({ length: 25 }, (_, n) => ({ id: `e${i}-${n}:1` })));
  await until('its share is full', () => first.stats()['retry_share_full'] === 1);
  await first.stop(1_000);
  isWell = true;
  const turnsBefore = rig.turns.length;
  await rig.start({ concurrency: 4, retryQuota, ...suspecting({ watched: everything }) });
  await until('all arrived', () => new Set(sink.taken()).size === 1_000);
  await rig.retryLogIsEmpty();
  const ofRetries = rig.turns.slice(turnsBefore).filter((frames) => frames?.retry !== undefined);
  expect(ofRetries).not.toEqual([]);
  expect(ofRetries.filter((frames) => frames?.log !== undefined)).toEqual([]);
});

test('suspected retries: a stop does not wait until a retry is isolated', async () => {
  sink.answer(() => 'hang');
  await rig.send([{ id: 'fresh:1' }]);
  const dispatcher = await rig.start(suspecting({ watched: everything }));
  await until('it is under way', () => sink.requests.length === 1);
  await put(0, ['a:1']);
  dispatcher.retriesStored(0);
  await dispatcher.stop(100);
  sink.answer(() => 200);
  await rig.start();
  await until('both arrived', () => sink.taken().length === 2);
  expect(sink.taken().toSorted()).toEqual(['a:1', 'fresh:1']);
});
