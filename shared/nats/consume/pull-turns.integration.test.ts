import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventsOfAccount, eventsSubject } from '../../contracts/subjects.ts';
import type { NatsServer } from '../../embedded/nats/nats-server.ts';
import { makeTestLog } from '../../testing/make-test-log.ts';
import { startTestNats } from '../../testing/servers.ts';
import { testTopology } from '../../testing/test-topology.ts';
import { client } from '../connection/client.ts';
import { connectLog } from '../connection/connection.ts';
import { publish } from '../publish/publisher.ts';
import { streams } from '../streams/topology.ts';
import { openPullConsumer } from './pull-consumer.ts';
import type { PullConsumer } from './pull-consumer.ts';

const mebibyte = 1024 ** 2;
/**
 * All these readers wait for one message: six times as many bytes as the server buffers before it closes the
 * connection.
 */
const readerCount = 200;
const messageBytes = mebibyte / 4;
const pendingBytesMax = 8 * mebibyte;

let nats: NatsServer;

beforeAll(async () => {
  nats = await startTestNats({ furtherConfig: `max_pending: ${pendingBytesMax}\n` });
});
afterAll(() => nats?.stop());

test('pull turns: the server does not close a connection on which hundreds of readers receive messages', async () => {
  await makeTestLog({ url: nats.url }, testTopology({ streamBytesMax: 64 * mebibyte }));
  const connection = await connectLog({ url: nats.url, name: 'readers' });
  const writer = await connectLog({ url: nats.url, name: 'writer' });
  const account = randomUUID();
  const readers: PullConsumer[] = [];
  try {
    for (let n = 0; n < readerCount; n += 1) {
      const consumer = { stream: streams.events, name: `reader-${n}`, filterSubject: eventsOfAccount(account), startFrom: 'first', ackWaitMs: 30_000, ackPendingMax: 10 } as const; // prettier-ignore
      readers.push(await openPullConsumer(connection, { consumer, bufferedMax: 4, isOneOfMany: true }));
    }
    for (const reader of readers) reader.resume();
    for (let n = 1; n <= 3; n += 1) {
      const payload = Buffer.alloc(messageBytes, String(n));
      await publish(writer, eventsSubject(account, 0), payload, { msgId: `message-${n}`, timeoutMs: 5_000 });
      await expect
        .poll(() => readers.filter(({ buffered }) => buffered === n).length, { timeout: 20_000 })
        .toBe(readerCount);
    }
    const server = (await (await fetch(`${nats.monitorUrl}/varz`)).json()) as { readonly slow_consumers: number };
    expect(server.slow_consumers).toBe(0);
  } finally {
    for (const reader of readers) await reader.close();
    await Promise.all([connection.close(), writer.close()]);
  }
}, 90_000);

test('pull turns: after a reconnect, and after some readers have left, all other readers receive each message', async () => {
  await makeTestLog({ url: nats.url }, testTopology({ streamBytesMax: 64 * mebibyte }));
  const connection = await connectLog({ url: nats.url, name: 'readers' });
  const writer = await connectLog({ url: nats.url, name: 'writer' });
  const account = randomUUID();
  const write = (n: number) =>
    publish(writer, eventsSubject(account, 0), Buffer.from(String(n)), { msgId: `${account}-${n}`, timeoutMs: 5_000 });
  let readers: PullConsumer[] = [];
  const allHave = (messages: number) =>
    expect
      .poll(() => readers.filter(({ buffered }) => buffered === messages).length, { timeout: 20_000 })
      .toBe(readers.length);
  try {
    for (let n = 0; n < 40; n += 1) {
      const consumer = { stream: streams.events, name: `turn-${n}`, filterSubject: eventsOfAccount(account), startFrom: 'first', ackWaitMs: 30_000, ackPendingMax: 10 } as const; // prettier-ignore
      readers.push(await openPullConsumer(connection, { consumer, bufferedMax: 4, isOneOfMany: true }));
    }
    for (const reader of readers) reader.resume();
    await write(1);
    await allHave(1);
    await connection[client].nc.reconnect();
    await write(2);
    await allHave(2);
    // One of the readers that leave may be the one that waits at the server.
    for (const leaving of readers.slice(0, 20)) await leaving.close();
    readers = readers.slice(20);
    await write(3);
    await allHave(3);
    for (const leaving of readers.slice(0, 10)) await leaving.close();
    readers = readers.slice(10);
    await write(4);
    await allHave(4);
  } finally {
    for (const reader of readers) await reader.close();
    await Promise.all([connection.close(), writer.close()]);
  }
}, 90_000);
