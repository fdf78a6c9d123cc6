import { randomBytes, randomUUID } from 'node:crypto';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import { client } from '../../../shared/nats/connection/client.ts';
import { connectLog } from '../../../shared/nats/connection/connection.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { openPullConsumer } from '../../../shared/nats/consume/pull-consumer.ts';
import { PublishError, publish } from '../../../shared/nats/publish/publisher.ts';
import { readStreamState } from '../../../shared/nats/streams/stream-progress.ts';
import { countBySubject, readNext } from '../../../shared/nats/messages/subject-log.ts';
import {
  allIngestDeadLetters,
  deadLetterSubject,
  dispatcherConsumer,
  eventsOfAccount,
  eventsSubject,
  ingestDeadLetterSubject,
  ingestSubject,
  resolverConsumer,
  resultsConsumer,
} from '../../../shared/contracts/subjects.ts';
import { ensureTopology, streams } from '../../../shared/nats/streams/topology.ts';
import { asLogUser } from '../../../shared/testing/as-log-user.ts';
import { openLogGate } from '../../../shared/testing/log-gate.ts';
import { startTestNats } from '../../../shared/testing/servers.ts';
import { testTopology } from '../../../shared/testing/test-topology.ts';
import { until } from '../../../shared/testing/until.ts';
import { createDeadLetterQuota } from './dead-letter-quota.ts';
import { startRetention } from './retention.ts';
import type { Retention } from './retention.ts';
import type { RetentionSettings } from './retention-settings.ts';

let nats: NatsServer;
let connection: LogConnection;
let retention: Retention | undefined;

const bytesMax = 1024 * 1024;
const settings: RetentionSettings = {
  everyMs: 50,
  historyMs: 3_600_000,
  waitingMs: 3_600_000,
  marks: { high: 0.6, low: 0.4 },
  quotas: { account: 1, all: 0.8 },
};
/** The sequence up to which each reader was made to skip, by the reader's name. */
const skippedTo = new Map<string, number>();
/** Consumers that an account's destinations should have now, by account; none by default. */
const wanted = new Map<string, string[]>();
/** The oldest sequence that an account's retries refer to, by account. */
const referred = new Map<string, number>();
/** Accounts whose destinations are not known yet. */
const unknown = new Set<string>();

beforeAll(async () => {
  nats = await startTestNats();
});
afterAll(() => nats.stop());
beforeEach(async () => {
  connection = await connectLog({ url: asLogUser(nats.url, 'pipeline'), name: 'retention-test' });
  await ensureTopology(connection, testTopology({ partitions: 2, streamBytesMax: bytesMax }));
});
afterEach(async () => {
  skippedTo.clear();
  wanted.clear();
  unknown.clear();
  referred.clear();
  await retention?.stop();
  for (const stream of [streams.ingest, streams.events, streams.deadLetters, streams.ingestDeadLetters]) {
    for await (const { name } of connection[client].jsm.consumers.list(stream))
      await connection[client].jsm.consumers.delete(stream, name);
    await connection[client].jsm.streams.purge(stream);
  }
  await connection.close();
});

const start = (own: Partial<RetentionSettings> = {}, on = connection): void => {
  retention = startRetention({
    connection: on,
    settings: { ...settings, ...own },
    readers: {
      delivers: (name) => name.startsWith('dispatcher-'),
      wanted: (accountId) => (unknown.has(accountId) ? undefined : (wanted.get(accountId) ?? [])),
      oldestReference: (accountId) => Promise.resolve(referred.get(accountId)),
      passOver: (name, seq) => skippedTo.set(name, seq),
    },
    deadLetters: { look: () => Promise.resolve() },
    logger: pino({ level: 'silent' }),
  });
};

async function store(subject: string, messages: number, bytes = 1_000): Promise<void> {
  for (let i = 0; i < messages; i += 1) {
    await publish(connection, subject, randomBytes(bytes), { msgId: randomUUID(), timeoutMs: 5_000 });
  }
}

/** A durable consumer that has acknowledged the first `count` messages of its subject. */
async function acknowledge(stream: string, name: string, filterSubject: string, count: number): Promise<void> {
  const consumer = {
    stream,
    name,
    filterSubject,
    startFrom: 'first',
    ackWaitMs: 30_000,
    ackPendingMax: 1_000,
  } as const;
  const pullConsumer = await openPullConsumer(connection, { consumer, bufferedMax: Math.max(count, 1) });
  for (let left = count; left > 0;) {
    const taken = await pullConsumer.take(left);
    for (const message of taken) message.ack();
    left -= taken.length;
  }
  await connection[client].nc.flush();
  await pullConsumer.close();
}

/**
 * Waits for three rounds. Each round reads a new state of the stream when it begins, and by then the previous round is
 * over.
 */
async function wholeRounds(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    const before = retention?.states.get(streams.events);
    await until('it has looked again', () => retention?.states.get(streams.events) !== before);
  }
}

const left = async (stream: string, subject: string): Promise<number> => {
  const counts = await countBySubject(connection, stream, subject);
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
};

test('retention: ingest: frames that their resolver has finished are removed, and unfinished ones stay', async () => {
  await store(ingestSubject(0), 10);
  await store(ingestSubject(1), 10);
  await acknowledge(streams.ingest, resolverConsumer(0), ingestSubject(0), 7);
  await acknowledge(streams.ingest, resolverConsumer(1), ingestSubject(1), 10);
  start();
  await until('partition 1 is empty', async () => (await left(streams.ingest, ingestSubject(1))) === 0);
  await until('partition 0 is cleaned', async () => (await left(streams.ingest, ingestSubject(0))) === 3);
  // Polled, because the count changes only once the log has answered.
  await expect.poll(() => retention?.removed.get(streams.ingest)).toBe(17);
});

test('retention: events: history stays while there is room', async () => {
  await store(eventsSubject('a', 0), 20);
  await acknowledge(streams.events, dispatcherConsumer('d'), eventsOfAccount('a'), 20);
  start();
  await wholeRounds();
  expect(await left(streams.events, eventsOfAccount('a'))).toBe(20);
});

test('retention: events: in a full stream finished history is removed, oldest first, and new events are stored again', async () => {
  const subject = eventsSubject('a', 0);
  const refusal = await store(subject, 2_000, 10_000).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(PublishError);
  expect(refusal).toMatchObject({ reason: 'full' });
  const stored = await left(streams.events, eventsOfAccount('a'));
  await acknowledge(streams.events, dispatcherConsumer('d'), eventsOfAccount('a'), stored);
  start();
  await until('there is room', async () => (await readStreamState(connection, streams.events)).bytes < bytesMax * 0.6);
  await store(subject, 1, 10_000);
  const state = await readStreamState(connection, streams.events);
  expect(state.bytes).toBeGreaterThan(bytesMax * 0.3);
  expect(state.firstSeq).toBeGreaterThan(1);
});

test('retention: events: frames that one destination has not finished stay, and those of other accounts are removed', async () => {
  await store(eventsSubject('a', 0), 40, 10_000);
  await store(eventsSubject('b', 1), 40, 10_000);
  await acknowledge(streams.events, dispatcherConsumer('a1'), eventsOfAccount('a'), 40);
  await acknowledge(streams.events, dispatcherConsumer('a2'), eventsOfAccount('a'), 5);
  await acknowledge(streams.events, dispatcherConsumer('b1'), eventsOfAccount('b'), 40);
  start();
  await until('a is cleaned', async () => (await left(streams.events, eventsOfAccount('a'))) === 35);
  await until('b made room', async () => (await readStreamState(connection, streams.events)).bytes < bytesMax * 0.6);
  expect(await left(streams.events, eventsOfAccount('a'))).toBe(35);
});

test('retention: events: frames that a destination may not have finished stay while its consumer is missing', async () => {
  const [a, b] = [eventsOfAccount('a'), eventsOfAccount('b')];
  await store(eventsSubject('a', 0), 10);
  await store(eventsSubject('b', 0), 10);
  await acknowledge(streams.events, dispatcherConsumer('a1'), a, 10);
  wanted.set('a', [dispatcherConsumer('a1'), dispatcherConsumer('a2')]);
  await store(eventsSubject('c', 0), 10);
  unknown.add('b');
  start({ historyMs: 0 });
  // Account c has no readers that would delay removal. Its events may go during an incomplete round of retention; the
  // rounds after that are complete.
  await until('c is cleaned', async () => (await left(streams.events, eventsOfAccount('c'))) === 0);
  await wholeRounds();
  expect([await left(streams.events, a), await left(streams.events, b)]).toEqual([10, 10]);
  unknown.delete('b');
  await until('events of b are released', async () => (await left(streams.events, b)) === 0);
  expect(await left(streams.events, a)).toBe(10);
  await acknowledge(streams.events, dispatcherConsumer('a2'), a, 4);
  await until('both are known', async () => (await left(streams.events, a)) === 6);
});

test('order of effects: references of retries are read after acknowledgements, so that a referenced event stays', async () => {
  const gate = await openLogGate(nats.url);
  const gated = await connectLog({ url: asLogUser(gate.url, 'pipeline'), name: 'retention-gated' });
  await store(eventsSubject('a', 0), 10);
  const { firstSeq } = await readStreamState(connection, streams.events);
  await acknowledge(streams.events, dispatcherConsumer('d'), eventsOfAccount('a'), 5);
  const held = gate.hold(`$JS.API.CONSUMER.LIST.${streams.events}`);
  start({ historyMs: 0 }, gated);
  await held.arrived;
  // Meanwhile a dispatcher stores in its position that a retry refers to the eighth event, and acknowledges all events.
  referred.set('a', firstSeq + 7);
  await acknowledge(streams.events, dispatcherConsumer('d'), eventsOfAccount('a'), 5);
  held.release();
  await until('the first are gone', async () => (await left(streams.events, eventsOfAccount('a'))) <= 3);
  expect((await readNext(connection, streams.events, eventsOfAccount('a'), 1))?.seq).toBe(firstSeq + 7);
  await retention?.stop();
  await gated.close();
  await gate.close();
});

test('predecessor: retention that stood still before it removed events removes no event that was stored since', async () => {
  const gate = await openLogGate(nats.url);
  const gated = await connectLog({ url: asLogUser(gate.url, 'pipeline'), name: 'retention-gated' });
  await store(eventsSubject('a', 0), 5);
  await acknowledge(streams.events, dispatcherConsumer('d'), eventsOfAccount('a'), 5);
  const held = gate.hold(`$JS.API.STREAM.PURGE.${streams.events}`);
  start({ historyMs: 0 }, gated);
  await held.arrived;
  // In the meantime a destination is added that has read nothing yet, and events are stored.
  wanted.set('a', [dispatcherConsumer('d'), dispatcherConsumer('added')]);
  await store(eventsSubject('a', 0), 3);
  held.release();
  await wholeRounds();
  expect(await left(streams.events, eventsOfAccount('a'))).toBe(3);
  await retention?.stop();
  await gated.close();
  await gate.close();
});

test('retention: events: old finished events are removed even if there is room', async () => {
  await store(eventsSubject('a', 0), 5);
  await acknowledge(streams.events, dispatcherConsumer('d'), eventsOfAccount('a'), 5);
  await store(eventsSubject('a', 0), 3);
  start({ historyMs: 0 });
  await until('the finished ones are gone', async () => (await left(streams.events, eventsOfAccount('a'))) === 3);
  expect(await left(streams.events, eventsOfAccount('a'))).toBe(3);
});

test('retention: events: a destination skips events only if it is over its quota; readers that only count do not delay removal', async () => {
  await store(eventsSubject('a', 0), 60, 10_000);
  await store(eventsSubject('b', 1), 10, 10_000);
  await acknowledge(streams.events, dispatcherConsumer('a-down'), eventsOfAccount('a'), 0);
  await acknowledge(streams.events, dispatcherConsumer('a-well'), eventsOfAccount('a'), 60);
  await acknowledge(streams.events, resultsConsumer('b'), eventsOfAccount('b'), 0);
  const { firstSeq } = await readStreamState(connection, streams.events);
  start({ quotas: { account: 0.25, all: 0.8 } });
  await until('it skips', () => skippedTo.size > 0);
  expect([...skippedTo.keys()]).toEqual([dispatcherConsumer('a-down')]);
  // 262,144 bytes are 26 frames; a reader over its quota keeps a tenth less.
  const kept = firstSeq + 60 - 1 - (skippedTo.get(dispatcherConsumer('a-down')) ?? 0);
  expect(kept).toBeGreaterThan(8);
  expect(kept).toBeLessThan(26);
  expect(retention?.late).toBe(1);
});

test('retention: events: a destination whose oldest event has waited too long skips the events that have', async () => {
  await store(eventsSubject('a', 0), 5);
  await acknowledge(streams.events, dispatcherConsumer('old'), eventsOfAccount('a'), 0);
  const { lastSeq } = await readStreamState(connection, streams.events);
  const [oldest] = [(await readNext(connection, streams.events, eventsOfAccount('a'), 1))?.storedAtMs ?? 0];
  start({ waitingMs: 200 });
  await until('it skips', () => (skippedTo.get(dispatcherConsumer('old')) ?? 0) >= lastSeq);
  expect(Date.now() - oldest).toBeGreaterThanOrEqual(200);
  expect(skippedTo.get(dispatcherConsumer('old'))).toBe(lastSeq);
});

test('dead letters: an account that fills the log loses its oldest letters; other accounts and ingest lose none', async () => {
  await store(deadLetterSubject('quiet'), 5);
  const refusal = await store(deadLetterSubject('noisy'), 2_000, 10_000).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ reason: 'full' });
  // Dead letters of ingest have a stream of their own, so they are stored although the other stream is full.
  await store(ingestDeadLetterSubject(0), 5);
  const quotas = createDeadLetterQuota(connection, { account: 0.5, all: 0.7 }, (id) => `account-of-${id}`);
  await quotas.look();
  expect(await left(streams.deadLetters, deadLetterSubject('quiet'))).toBe(5);
  const { bytes, lastSeq } = await readStreamState(connection, streams.deadLetters);
  expect(bytes).toBeLessThan(bytesMax * 0.5);
  expect(bytes).toBeGreaterThan(bytesMax * 0.3);
  const newest = await readNext(connection, streams.deadLetters, deadLetterSubject('noisy'), lastSeq);
  expect(newest?.seq).toBe(lastSeq);
  expect([quotas.full, quotas.removed > 0]).toEqual([1, true]);
  await store(deadLetterSubject('quiet'), 5);
  await quotas.look();
  expect([quotas.full, await left(streams.deadLetters, deadLetterSubject('quiet'))]).toEqual([0, 10]);
});

test('dead letters: the size of an account’s letters is not judged by its first, small letter', async () => {
  await store(deadLetterSubject('quiet'), 28, 10_000);
  await store(deadLetterSubject('noisy'), 1, 100);
  await store(deadLetterSubject('noisy'), 60, 10_000);
  const quotas = createDeadLetterQuota(connection, { account: 0.5, all: 0.7 }, (id) => `account-of-${id}`);
  await quotas.look();
  expect(await left(streams.deadLetters, deadLetterSubject('quiet'))).toBe(28);
  expect([quotas.full, quotas.removed > 0]).toEqual([1, true]);
});

test('dead letters: before an account loses letters, more of them are sampled, so that a few large ones do not count for all', async () => {
  // Stores large letters at the positions of the first samples.
  for (const small of [7, 15, 15, 15, 8]) {
    await store(deadLetterSubject('mixed'), small, 500);
    if (small > 8 || small === 7) await store(deadLetterSubject('mixed'), 1, 20_000);
  }
  await store(deadLetterSubject('noisy'), 60, 10_000);
  const quotas = createDeadLetterQuota(connection, { account: 0.3, all: 0.9 }, (id) => `account-of-${id}`);
  await quotas.look();
  expect(await left(streams.deadLetters, deadLetterSubject('mixed'))).toBe(64);
  expect([quotas.full, quotas.removed > 0]).toEqual([1, true]);
});

test('dead letters of ingest: an account over its quota loses its oldest in each partition, and no other account loses any', async () => {
  const noisy = [0, 1].map((partition) => ingestDeadLetterSubject(partition, 'noisy'));
  const others = [ingestDeadLetterSubject(0, 'quiet'), ingestDeadLetterSubject(1, 'quiet'), ingestDeadLetterSubject(0)];
  for (const subject of others) await store(subject, 5);
  for (const subject of noisy) await store(subject, 35, 10_000);
  const quotas = createDeadLetterQuota(connection, { account: 0.5, all: 0.9 }, () => undefined);
  await quotas.look();
  const left = await countBySubject(connection, streams.ingestDeadLetters, allIngestDeadLetters);
  for (const subject of others) expect([subject, left.get(subject)]).toEqual([subject, 5]);
  const { bytes, lastSeq } = await readStreamState(connection, streams.ingestDeadLetters);
  expect(bytes).toBeLessThan(bytesMax * 0.5);
  expect(bytes).toBeGreaterThan(bytesMax * 0.3);
  const newest = await readNext(connection, streams.ingestDeadLetters, noisy[1] ?? '', lastSeq);
  expect(newest?.seq).toBe(lastSeq);
  expect(quotas.full).toBe(2);
});

test('retention: events: with a clock eight days ahead of the log, no event is removed and no destination skips events', async () => {
  await store(eventsSubject('a', 0), 5);
  await acknowledge(streams.events, dispatcherConsumer('d'), eventsOfAccount('a'), 2);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 8 * 86_400_000 });
  try {
    start({ historyMs: 86_400_000, waitingMs: 86_400_000 });
    await until('it has looked', () => retention?.states.has(streams.events) === true);
    await retention?.stop();
    expect([...skippedTo]).toEqual([]);
    expect(await left(streams.events, eventsOfAccount('a'))).toBe(5);
  } finally {
    vi.useRealTimers();
  }
});
