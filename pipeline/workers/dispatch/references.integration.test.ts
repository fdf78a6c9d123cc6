import { expect, test } from 'vitest';
import { lineOfDeadLetter } from '../../../shared/contracts/events/dead-letter.ts';
import { FrameWriter } from '../../../shared/contracts/events/frame.ts';
import { encodeRetryRecord, replayTier } from '../../../shared/contracts/events/retry-record.ts';
import { encodeResolved } from '../../../shared/contracts/events/resolved-event.ts';
import {
  deadLetterSubject,
  eventsOfAccount,
  retriesOfDestination,
  retrySubject,
} from '../../../shared/contracts/subjects.ts';
import { sampleEvent } from '../../../shared/destinations/sdk/sample-event.ts';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import { otherRow } from '../../../shared/contracts/step-counts.ts';
import { purgeSubject, readNext } from '../../../shared/nats/messages/subject-log.ts';
import { sumBytes } from '../../../shared/nats/messages/read-messages.ts';
import { publish } from '../../../shared/nats/publish/publisher.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
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
  rig.configure({ destinations: [httpEntity(rig.destinationId, `${sink.url}/hook`)] });
});

const digits = '12345678901234567890';
/** A line of the log for an event of the visitor `v`, with an integer that no double represents. */
const exactLine = (id: string, more = ''): string => {
  const sample = sampleEvent({ id, account_id: rig.accountId, event_properties: { order: id, text: more } });
  return encodeResolved({ ...sample, visitor: { ...sample.visitor, id: 'v' } }).replace(
    '"order":',
    `"big":${digits},"order":`,
  );
};
const frameOf = (lines: readonly string[]): Uint8Array => {
  const writer = new FrameWriter();
  for (const line of lines) writer.appendLine(line);
  return writer.bytes();
};
const retryBytes = (): Promise<number> =>
  sumBytes(rig.connection, streams.retry, retriesOfDestination(rig.destinationId), () => true);
const requestsOf = (id: string): string[] =>
  sink.requests.map(({ body }) => body).filter((body) => body.includes(`"${id}"`));

test('references: every attempt sends the same bytes: the first one, a retry, and one after parking', async () => {
  let isRefusing = true;
  sink.answer(() => (isRefusing ? 503 : 200));
  const first = await rig.start({ retryPolicyOf: quickRetries });
  await rig.sendRaw(frameOf(['first', 'second', 'third'].map((id) => exactLine(id))));
  await until('all wait', async () => (await rig.retryRecords()).length >= 3 && requestsOf('first').length > 1);
  await first.stop(1_000);
  isRefusing = false;
  // The lanes of a new dispatcher contain none of the first dispatcher's events.
  await rig.start({ retryPolicyOf: quickRetries });
  await until('all arrived', () => sink.taken().length === 3);
  expect(sink.taken()).toEqual(['first', 'second', 'third']);
  for (const id of ['first', 'second', 'third']) {
    const bodies = requestsOf(id);
    expect(new Set(bodies.map((body) => body.match(/"big":\d+/)?.[0]))).toEqual(new Set([`"big":${digits}`]));
  }
  expect(await rig.deadLetters()).toEqual([]);
});

test('references: the retry log takes at most a tenth of the bytes of the events themselves', async () => {
  sink.answer(() => 503);
  // One failed request puts 50 events into the retry log, so enough are there before the breaker opens.
  const settings = { batchSize: '50' };
  rig.configure({ destinations: [httpEntity(rig.destinationId, `${sink.url}/hook`, { settings })] });
  const visitors = Array.from({ length: 200 }, (_, n) => `visitor-${n}`);
  const lines = visitors.map((visitor) => {
    const sample = sampleEvent({ id: `event-of-${visitor}`, account_id: rig.accountId });
    const traits = { ...sample.visitor, id: visitor, about: 'x'.repeat(1_700) };
    return encodeResolved({ ...sample, visitor: traits });
  });
  await rig.sendRaw(frameOf(lines));
  const dispatcher = await rig.start({ concurrency: 64 });
  await until('some wait', async () => (await rig.retryRecords()).length >= 20);
  // Nothing more is stored while bytes and records are read.
  await dispatcher.stop(5_000);
  const stored = await retryBytes();
  const records = await rig.retryRecords();
  const payloads = records.reduce((sum, { bytes }) => sum + bytes, 0);
  expect(records.every(({ line }) => line === undefined)).toBe(true);
  expect(stored).toBeGreaterThan(0);
  expect(stored).toBeLessThanOrEqual(payloads / 10);
});

test('references: an event that was removed from EVENTS is recorded as skipped, and its visitor’s next events are sent', async () => {
  sink.answer(() => 503);
  const first = await rig.start();
  await rig.send([{ id: 'a', visitor: 'v', receivedAtMs: Date.now() }]);
  await rig.send([{ id: 'b', visitor: 'v', receivedAtMs: Date.now() }]);
  await until('both wait', async () => (await rig.retryRecords()).length === 2);
  await first.stop(1_000);
  expect((await rig.position())?.oldestReference).toBe(rig.frameSeqs[0]);
  await purgeSubject(rig.connection, streams.events, eventsOfAccount(rig.accountId), rig.frameSeqs[1]);
  sink.answer(() => 200);
  // Simulates another process, which has nothing of the first dispatcher in memory.
  const other = await createDispatcherRig(nats.url, rig);
  other.configure({ destinations: [httpEntity(rig.destinationId, `${sink.url}/hook`)] });
  const second = await other.start();
  await until('the second arrived', () => sink.taken().length === 1);
  expect(sink.taken()).toEqual(['b']);
  expect(second.stats()['missed_events']).toBe(1);
  await until('nothing is referred to', async () => (await rig.position())?.oldestReference === undefined);
  expect((await rig.health())?.skipped?.event_removed?.map(([, , events]) => events)).toEqual([1]);
  await other.close();
});

test('references: the events of a replay are referred to even while the breaker is open', async () => {
  const dispatcher = await rig.start();
  await rig.send([{ id: 'old', visitor: 'v', receivedAtMs: Date.now() }]);
  await until('it is delivered', () => sink.taken().length === 1);
  // The breaker stays open for a minute if a destination refuses its key.
  sink.answer(() => 401);
  await rig.send(['a', 'b', 'c'].map((id) => ({ id, visitor: id, receivedAtMs: Date.now() })));
  const [old = 0, waits] = rig.frameSeqs;
  await until('the breaker is open', () => dispatcher.stats()['breaker_open'] === 1);
  await until('the others wait', async () => (await rig.position())?.oldestReference === waits);
  const times = { firstAttemptAt: 0, lastAttemptAt: 0, notBefore: 0, receivedAt: 0 };
  const about = { visitorId: 'v', eventId: 'old', bytes: 1, origin: { seq: old, line: 0 } };
  const line = encodeRetryRecord({ attempts: 0, ...times, reason: 'replay', ...about });
  await publish(rig.connection, retrySubject(rig.destinationId, replayTier), Buffer.from(`${line}\n`), {
    msgId: 'replayed',
    timeoutMs: 5_000,
  });
  dispatcher.retriesStored(replayTier);
  await until('the replay is referred to', async () => (await rig.position())?.oldestReference === old);
  expect(sink.requests.filter(({ body }) => body.includes('"old"'))).toHaveLength(1);
});

test('references: events that were removed from EVENTS leave the stages in which they waited, in the step of their receipt', async () => {
  sink.answer(() => 503);
  const first = await rig.start();
  const receivedAtMs = Date.now() - 7_200_000;
  await rig.send([{ id: 'a', visitor: 'v', receivedAtMs }]);
  await rig.send([{ id: 'b', visitor: 'v', receivedAtMs }]);
  await until('both wait', async () => (await rig.retryRecords()).length === 2);
  await first.stop(1_000);
  await purgeSubject(rig.connection, streams.events, eventsOfAccount(rig.accountId));
  sink.answer(() => 200);
  // Simulates another process, which has nothing of the first dispatcher in memory.
  const other = await createDispatcherRig(nats.url, rig);
  other.configure({ destinations: [httpEntity(rig.destinationId, `${sink.url}/hook`)] });
  const second = await other.start();
  await until('both are skipped', () => second.stats()['missed_events'] === 2);
  await second.stop(1_000);
  expect(await rig.moves('test')).toEqual({
    'Order: log>retrying': 1,
    'Order: log>waiting': 1,
    [`${otherRow}: retrying>skipped`]: 1,
    [`${otherRow}: waiting>skipped`]: 1,
  });
  const removed = (await rig.health())?.skipped?.event_removed ?? [];
  expect(removed.map(([fromMs, toMs, events]) => [fromMs, toMs, events])).toEqual([
    [receivedAtMs, receivedAtMs + 1, 2],
  ]);
  await other.close();
});

test('references: retry records of an earlier build, which contain their events, are sent unchanged', async () => {
  const line = exactLine('old');
  const nowMs = Date.now();
  const about = { v: 1, attempts: 1, firstAttemptAt: nowMs, lastAttemptAt: nowMs, reason: 'status 503' };
  const record = `${JSON.stringify(about).slice(0, -1)},"event":${line},"notBefore":1}`;
  await publish(rig.connection, retrySubject(rig.destinationId, 0), frameOf([record]), {
    msgId: 'old',
    timeoutMs: 5_000,
  });
  let answers = 0;
  sink.answer(() => ((answers += 1) === 1 ? 503 : 200));
  await rig.start({ retryPolicyOf: quickRetries });
  await until('it arrived', () => sink.taken().length === 1);
  expect(sink.requests.map(({ body }) => body.includes(digits))).toEqual([true, true]);
  await until('it has left', async () => (await rig.retryRecords()).length === 0);
});

test('references: a dead letter keeps the exact bytes of its event', async () => {
  sink.answer(() => 422);
  await rig.start();
  await rig.sendRaw(frameOf([exactLine('refused')]));
  await until('it is a dead letter', async () => (await rig.deadLetters()).length === 1);
  const found = await readNext(rig.connection, streams.deadLetters, deadLetterSubject(rig.destinationId), 1);
  expect(lineOfDeadLetter(found?.data ?? new Uint8Array())).toBe(exactLine('refused'));
});
