import { afterEach, describe, expect, test } from 'vitest';
import type { NatsServer } from '../../embedded/nats/nats-server.ts';
import { createNatsFolder, startTestNats, startTestNatsCluster } from '../../testing/servers.ts';
import { testTopology } from '../../testing/test-topology.ts';
import { client } from '../connection/client.ts';
import { connectLog } from '../connection/connection.ts';
import type { LogConnection } from '../connection/connection.ts';
import { batchMessagesMax, publishBatch } from './publish-batch.ts';
import type { BatchMessage } from './publish-batch.ts';
import { PublishError, publish, publishHeaders } from './publisher.ts';
import { readNext } from '../messages/subject-log.ts';
import { eventsOfAll, eventsSubject } from '../../contracts/subjects.ts';
import { ensureTopology, streams } from '../streams/topology.ts';

const streamBytesMax = 8 * 1024 ** 2;
const timeoutMs = 5_000;

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of cleanUps.splice(0).toReversed()) await step();
});

async function open(url: string, replicas: number): Promise<LogConnection> {
  const connection = await connectLog({ url, name: 'test' });
  cleanUps.push(() => connection.close());
  await ensureTopology(connection, testTopology({ replicas, streamBytesMax }));
  return connection;
}

async function openOne(): Promise<LogConnection> {
  const server = await startTestNats();
  cleanUps.push(() => server.stop());
  return open(server.url, 1);
}

const messages = (name: string, count: number, bytes = 100): BatchMessage[] =>
  Array.from({ length: count }, (_, index) => ({
    subject: eventsSubject(`account-${index % 3}`, 0),
    payload: Buffer.alloc(bytes, index),
    msgId: `${name}-${index}`,
    headers: { Ids: `ids-${index}` },
  }));

/** The stored ids, in order. */
async function stored(connection: LogConnection): Promise<string[]> {
  const ids: string[] = [];
  for (let seq = 1; ;) {
    const message = await readNext(connection, streams.events, eventsOfAll, seq);
    if (message === undefined) return ids;
    ids.push(message.header('Nats-Msg-Id') ?? '');
    seq = message.seq + 1;
  }
}

/**
 * Repeats `work` until it succeeds: in a cluster the stream may have no leader yet, or a server may still remember a
 * refused batch.
 */
async function untilTaken(work: () => Promise<unknown>): Promise<void> {
  const isTaken = (): Promise<boolean> =>
    work().then(
      () => true,
      () => false,
    );
  await expect.poll(isTaken).toBe(true);
}

const idsOf = (batch: readonly BatchMessage[]): string[] => batch.map(({ msgId }) => msgId);

describe.each([1, 3])('publish batch, %i servers', (servers) => {
  async function openLog(): Promise<LogConnection> {
    if (servers === 1) return openOne();
    const nodes = await startTestNatsCluster(servers);
    cleanUps.push(async () => void (await Promise.all(nodes.map((node) => node.stop()))));
    return open(nodes.map(({ url }) => url).join(','), servers);
  }

  test('publish batch: all messages of a batch are stored with their headers, in order and without other messages between them', async () => {
    const connection = await openLog();
    const batches = ['a', 'b', 'c', 'd'].map((name) => messages(name, 7));
    const singles = messages('single', 30);
    const [seqs] = await Promise.all([
      Promise.all(batches.map((batch) => publishBatch(connection, batch, timeoutMs))),
      ...singles.map((one) => publish(connection, one.subject, one.payload, { ...one, timeoutMs })),
    ]);
    const ids = await stored(connection);
    expect(ids.toSorted()).toEqual([...batches, singles].flatMap(idsOf).toSorted());
    for (const [nth, batch] of batches.entries()) {
      const from = ids.indexOf(batch[0]?.msgId ?? '');
      expect(ids.slice(from, from + batch.length)).toEqual(idsOf(batch));
      expect(seqs[nth]).toEqual(batch.map((_, index) => from + 1 + index));
    }
    const last = await readNext(connection, streams.events, eventsOfAll, seqs[3]?.[6] ?? 0);
    expect(last?.header('Ids')).toBe('ids-6');
    expect([...(last?.data ?? [])]).toEqual([...Buffer.alloc(100, 6)]);
  });

  test('publish batch: nothing is stored if an id is known, or occurs twice in the batch', async () => {
    const connection = await openLog();
    const [one, ...rest] = messages('a', 5);
    if (one === undefined) throw new Error('no message');
    await untilTaken(() => publish(connection, one.subject, one.payload, { ...one, timeoutMs }));
    await expect(publishBatch(connection, [...rest, one], timeoutMs)).rejects.toBeInstanceOf(PublishError);
    await expect(publishBatch(connection, [...rest, ...rest], timeoutMs)).rejects.toBeInstanceOf(PublishError);
    expect(await stored(connection)).toEqual(['a-0']);
    // The stream has not recorded the ids of the refused batches.
    await untilTaken(() => publishBatch(connection, rest, timeoutMs));
    expect(await stored(connection)).toEqual(['a-0', 'a-1', 'a-2', 'a-3', 'a-4']);
  });

  test('publish batch: repeated after a lost answer, a batch is refused, and each of its messages is a duplicate', async () => {
    const connection = await openLog();
    const batch = messages('a', 4);
    await publishBatch(connection, batch, timeoutMs);
    await expect(publishBatch(connection, batch, timeoutMs)).rejects.toBeInstanceOf(PublishError);
    for (const message of batch) {
      const { duplicate } = await publish(connection, message.subject, message.payload, { ...message, timeoutMs });
      expect(duplicate).toBe(true);
    }
    expect(await stored(connection)).toEqual(idsOf(batch));
  });
});

test('publish batch: too many messages in one batch, or too many open batches, are refused and nothing is stored', async () => {
  const connection = await openOne();
  const tooMany = messages('a', batchMessagesMax + 1, 1);
  await expect(publishBatch(connection, tooMany, timeoutMs)).rejects.toBeInstanceOf(PublishError);
  expect(await stored(connection)).toEqual([]);
  await publishBatch(connection, messages('b', batchMessagesMax, 1), timeoutMs);
  // A batch that was begun and not committed counts towards the limit until the server forgets it.
  for (let begun = 0; begun < 50; begun += 1) {
    const headers = { 'Nats-Batch-Id': `begun-${begun}`, 'Nats-Batch-Sequence': '1' };
    connection[client].nc.publish(eventsSubject('account-0', 0), new Uint8Array(), {
      headers: publishHeaders({ msgId: `begun-${begun}`, headers }),
    });
  }
  await connection[client].nc.flush();
  await expect(publishBatch(connection, messages('c', 2), timeoutMs)).rejects.toBeInstanceOf(PublishError);
  expect(await stored(connection)).toHaveLength(batchMessagesMax);
});

test('publish batch: a batch for which the stream has no room is not stored at all', async () => {
  const connection = await openOne();
  const batch = messages('large', 10, 1024 ** 2);
  await expect(publishBatch(connection, batch, timeoutMs)).rejects.toMatchObject({ reason: 'full' });
  expect(await stored(connection)).toEqual([]);
});

test('publish batch: after a kill of the server each batch is stored whole or not at all', async () => {
  const storeDir = await createNatsFolder();
  let server: NatsServer = await startTestNats({ storeDir });
  cleanUps.push(() => server.stop());
  const connection = await open(server.url, 1);
  const acknowledged: string[] = [];
  const names: string[] = [];
  for (let round = 0; round < 4; round += 1) {
    const state = { isOver: false };
    const publishing = (async () => {
      for (let nth = 0; !state.isOver; nth += 1) {
        const batch = messages(`${round}-${nth}`, 20, 4_000);
        names.push(`${round}-${nth}`);
        await publishBatch(connection, batch, 1_000).then(
          () => acknowledged.push(...idsOf(batch)),
          () => (state.isOver = true),
        );
      }
    })();
    const before = acknowledged.length;
    await expect.poll(() => acknowledged.length, { timeout: 20_000 }).toBeGreaterThan(before + 100);
    await server.kill();
    await publishing;
    server = await startTestNats({ storeDir, port: server.port });
    await expect.poll(() => connection.connected, { timeout: 20_000 }).toBe(true);
  }
  const ids = await stored(connection);
  expect(new Set(ids).size).toBe(ids.length);
  expect(acknowledged.filter((id) => !ids.includes(id))).toEqual([]);
  for (const name of names) {
    const count = ids.filter((id) => id.startsWith(`${name}-`)).length;
    expect([0, 20]).toContain(count);
  }
}, 120_000);
