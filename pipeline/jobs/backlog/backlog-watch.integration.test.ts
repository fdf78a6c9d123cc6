import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import { connectLog } from '../../../shared/nats/connection/connection.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { claimConsumer } from '../../../shared/nats/consume/consumers.ts';
import { openPullConsumer } from '../../../shared/nats/consume/pull-consumer.ts';
import { publishWithRetry } from '../../../shared/nats/publish/publisher.ts';
import {
  deadLetterSubject,
  dispatcherConsumer,
  eventsOfAccount,
  eventsSubject,
  ingestSubject,
  resolverConsumer,
  retrySubject,
} from '../../../shared/contracts/subjects.ts';
import { ensureTopology, streams } from '../../../shared/nats/streams/topology.ts';
import { asLogUser } from '../../../shared/testing/as-log-user.ts';
import { startTestNats } from '../../../shared/testing/servers.ts';
import { testTopology } from '../../../shared/testing/test-topology.ts';
import { watchBacklog } from './backlog-watch.ts';
import type { BacklogWatch, BacklogWatchOptions } from './backlog-watch.ts';

const within = { timeout: 30_000, interval: 50 };
const bytesMax = 16 * 1024 ** 2;

let nats: NatsServer;
let connection: LogConnection;
let watch: BacklogWatch | undefined;
let lags: number[] = [];

beforeAll(async () => {
  nats = await startTestNats();
  connection = await connectLog({ url: asLogUser(nats.url, 'pipeline'), name: 'backlog-test' });
  await ensureTopology(connection, testTopology({ partitions: 2, streamBytesMax: bytesMax }));
});

afterAll(async () => {
  await connection.close();
  await nats.stop();
});

afterEach(async () => {
  await watch?.stop();
  lags = [];
});

const store = (subject: string): Promise<unknown> =>
  publishWithRetry(
    connection,
    { subject, payload: Buffer.from('{}'), msgId: randomUUID() },
    { timeoutMs: 10_000, attemptsMax: 3 },
  );

const consumer = (stream: string, name: string, filterSubject: string) =>
  ({ stream, name, filterSubject, startFrom: 'first', ackWaitMs: 60_000, ackPendingMax: 50 }) as const;

function start(own: Partial<BacklogWatchOptions> = {}): BacklogWatch {
  watch = watchBacklog({
    connection,
    everyMs: 50,
    owns: () => true,
    framesRead: () => [],
    resolveLag: { note: (lagMs) => Promise.resolve(void lags.push(lagMs)) },
    logger: pino({ level: 'silent' }),
    ...own,
  });
  return watch;
}

test('backlog: frames, events and the time of the oldest frame are known for each reader, whether it runs or not', async () => {
  const [late, done] = [dispatcherConsumer('late'), dispatcherConsumer('done')];
  await claimConsumer(connection, consumer(streams.ingest, resolverConsumer(1), ingestSubject(1)));
  await claimConsumer(connection, consumer(streams.events, late, eventsOfAccount('a')));
  await claimConsumer(connection, consumer(streams.events, done, eventsOfAccount('b')));
  const beforeMs = Date.now();
  for (let i = 0; i < 3; i += 1) await store(ingestSubject(1));
  for (let i = 0; i < 4; i += 1) await store(eventsSubject('a', 0));
  await store(ingestSubject(0));
  const { backlogs } = start({ framesRead: () => [{ consumer: late, frames: 10, events: 250 }] });
  expect(backlogs.size).toBe(0);
  await expect.poll(() => watch?.backlogs.get(late)?.frames, within).toBe(4);
  expect(watch?.backlogs.get(resolverConsumer(1))).toMatchObject({
    frames: 3,
    unacknowledged: 0,
    unacknowledgedMax: 50,
  });
  expect(watch?.backlogs.get(late)?.events).toBe(100);
  expect(watch?.resolveLagMs).toBeGreaterThanOrEqual(0);
  expect(watch?.backlogs.get(late)?.oldestAtMs).toBeGreaterThanOrEqual(beforeMs - 1_000);
  expect(watch?.backlogs.get(done)).toMatchObject({ frames: 0, events: 0, oldestAtMs: undefined });
  expect(watch?.streams.get(streams.ingest)).toMatchObject({ messages: 4, bytesMax });
});

test('backlog: delivered frames count until they are acknowledged; then the next frame becomes the oldest', async () => {
  const name = dispatcherConsumer('slow');
  const pullConsumer = await openPullConsumer(connection, {
    consumer: consumer(streams.events, name, eventsOfAccount('c')),
    bufferedMax: 2,
  });
  for (let i = 0; i < 2; i += 1) await store(eventsSubject('c', 0));
  const [first, second] = [...(await pullConsumer.take(1)), ...(await pullConsumer.take(1))];
  start();
  await expect.poll(() => watch?.backlogs.get(name)?.unacknowledged, within).toBe(2);
  await expect.poll(() => watch?.backlogs.get(name)?.oldestAtMs, within).toBe(first?.storedAtMs);
  await first?.ackConfirmed(10_000);
  await expect.poll(() => watch?.backlogs.get(name)?.frames, within).toBe(1);
  await expect.poll(() => watch?.backlogs.get(name)?.oldestAtMs, within).toBe(second?.storedAtMs);
  await second?.ackConfirmed(10_000);
  await expect.poll(() => watch?.backlogs.get(name), within).toMatchObject({ frames: 0, oldestAtMs: undefined });
  await pullConsumer.close();
});

test('backlog: retries and dead letters are counted by destination, over all tiers', async () => {
  for (const tier of [0, 0, 2]) await store(retrySubject('late', tier));
  await store(deadLetterSubject('late'));
  start();
  await expect.poll(() => watch?.retries.get('late'), within).toBe(3);
  expect(watch?.deadLetters.get('late')).toBe(1);
});

test('backlog: an instance that is cut off from the log shows nothing, because ages would rise without end', async () => {
  let connected = true;
  const cut = Object.create(connection, { connected: { get: () => connected } }) as LogConnection;
  start({ connection: cut });
  await expect.poll(() => watch?.streams.size, within).toBeGreaterThan(0);
  connected = false;
  await expect.poll(() => watch?.streams.size, within).toBe(0);
  expect(watch?.backlogs.size).toBe(0);
});

test('backlog: an instance shows nothing while another instance reads the backlogs', async () => {
  let isOurs = true;
  start({ owns: () => isOurs });
  await expect.poll(() => watch?.streams.size, within).toBeGreaterThan(0);
  isOurs = false;
  await expect.poll(() => watch?.streams.size, within).toBe(0);
  expect(watch?.backlogs.size).toBe(0);
  expect(watch?.resolveLagMs).toBeUndefined();
});
