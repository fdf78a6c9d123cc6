import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NatsServer } from '../../shared/embedded/nats/nats-server.ts';
import { connectLog } from '../../shared/nats/connection/connection.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { isUnread } from '../../shared/nats/consume/consumers.ts';
import { openPullConsumer } from '../../shared/nats/consume/pull-consumer.ts';
import { eventsOfAll } from '../../shared/contracts/subjects.ts';
import { ensureTopology, streams } from '../../shared/nats/streams/topology.ts';
import { asLogUser } from '../../shared/testing/as-log-user.ts';
import { startTestNats } from '../../shared/testing/servers.ts';
import { testTopology } from '../../shared/testing/test-topology.ts';

let nats: NatsServer;
let connection: LogConnection;

beforeAll(async () => {
  nats = await startTestNats();
  connection = await connectLog({ url: asLogUser(nats.url, 'pipeline'), name: 'retire-test' });
  await ensureTopology(connection, testTopology({ partitions: 1 }));
});
afterAll(async () => {
  await connection?.close();
  await nats?.stop();
});

test('retired consumers: one that somebody reads is not unread, one that nobody asks is, one that is gone is not', async () => {
  const consumer = {
    stream: streams.events,
    name: 'recent-events',
    filterSubject: eventsOfAll,
    startFrom: 'first',
    ackWaitMs: 30_000,
    ackPendingMax: 10,
  } as const;
  const noTimeMs = -1;
  expect(await isUnread(connection, consumer, noTimeMs)).toBe(false);
  const reader = await openPullConsumer(connection, { consumer, bufferedMax: 10 });
  const taking = reader.take(1);
  await expect.poll(() => isUnread(connection, consumer, noTimeMs)).toBe(false);
  await reader.close();
  await taking;
  await expect.poll(() => isUnread(connection, consumer, noTimeMs), { timeout: 20_000 }).toBe(true);
  const hourMs = 3_600_000;
  expect(await isUnread(connection, consumer, hourMs)).toBe(false);
});
