import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NatsServer } from '../../embedded/nats/nats-server.ts';
import { startTestNats } from '../../testing/servers.ts';
import { testTopology } from '../../testing/test-topology.ts';
import { client } from '../connection/client.ts';
import { connectLog } from '../connection/connection.ts';
import type { LogConnection } from '../connection/connection.ts';
import { openLogGate } from '../../testing/log-gate.ts';
import { lastStored, purgeSubject, storedAt } from './subject-log.ts';
import { publish } from '../publish/publisher.ts';
import { readMessages } from './read-messages.ts';
import type { ReadMessagesOptions } from './read-messages.ts';
import { eventsOfPartition, eventsSubject } from '../../contracts/subjects.ts';
import { ensureTopology, streams } from '../streams/topology.ts';

let nats: NatsServer;
let connection: LogConnection;

beforeAll(async () => {
  nats = await startTestNats();
  connection = await connectLog({ url: nats.url, name: 'test' });
  await ensureTopology(connection, testTopology({ partitions: 5 }));
  await write(0, 0, 5_500);
  await write(1, 0, 10);
});
afterAll(async () => {
  await connection?.close();
  await nats?.stop();
});

async function write(partition: number, from: number, to: number): Promise<void> {
  const numbers = Array.from({ length: to - from }, (_, n) => from + n);
  await Promise.all(
    numbers.map((n) =>
      publish(connection, eventsSubject(`a${n % 3}`, partition), Buffer.from('payload'), {
        msgId: `${partition}-${n}`,
        timeoutMs: 10_000,
        ...(n % 10 === 9 ? {} : { headers: { 'Test-Number': String(n) } }),
      }),
    ),
  );
}

async function read(partition: number, changes: Partial<ReadMessagesOptions> = {}): Promise<string[]> {
  const values: string[] = [];
  await readMessages(connection, {
    stream: streams.events,
    filterSubject: eventsOfPartition(partition),
    from: { timeMs: 0 },
    content: 'headers',
    messagesPerPull: 1_000,
    silenceMaxMs: 10_000,
    onMessage(message) {
      const value = message.header('Test-Number');
      if (value !== undefined) values.push(value);
    },
    ...changes,
  });
  return values;
}

test('readMessages: reads a header from every message of the subject that has this header, in order, over many pulls', async () => {
  const numbers = Array.from({ length: 5_500 }, (_, n) => n).filter((n) => n % 10 !== 9);
  expect(await read(0)).toEqual(numbers.map(String));
  expect(await read(1)).toHaveLength(9);
  expect(await read(4)).toEqual([]);
});

test('readMessages: begins at the time given', async () => {
  await write(3, 0, 1);
  const { time } = await connection[client].jsm.streams.getMessage(streams.events, { last_by_subj: 'events.*.3' });
  while (Date.now() <= time.getTime() + 1) await new Promise((resolve) => setTimeout(resolve, 1));
  await write(3, 1, 3);
  expect(await read(3, { from: { timeMs: time.getTime() + 1 } })).toEqual(['1', '2']);
  expect(await read(3, { from: { timeMs: Date.now() + 60_000 } })).toEqual([]);
});

test('readMessages: stops when its signal is aborted', async () => {
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(read(0, { signal })).rejects.toThrow('enough');
  const later = new AbortController();
  const reading = read(0, { signal: later.signal, onMessage: () => later.abort(new Error('enough')) });
  await expect(reading).rejects.toThrow('enough');
});

test('readMessages: begins at a given sequence, reads whole messages if asked to, and ends when onMessage returns false', async () => {
  const seqs: number[] = [];
  const last = await connection[client].jsm.streams.getMessage(streams.events, { last_by_subj: 'events.*.1' });
  await read(1, { from: { seq: last.seq - 2 }, onMessage: ({ seq }) => void seqs.push(seq) });
  expect(seqs).toEqual([last.seq - 2, last.seq - 1, last.seq]);
  const texts: string[] = [];
  await read(1, {
    content: 'all',
    messagesPerPull: 2,
    onMessage({ data }) {
      texts.push(Buffer.from(data).toString('utf8'));
      return texts.length < 4;
    },
  });
  expect(texts).toEqual(['payload', 'payload', 'payload', 'payload']);
});

test('readMessages: a reader that throws ends the reading at once', async () => {
  const failing = read(1, {
    onMessage() {
      throw new Error('cannot be read');
    },
  });
  await expect(failing).rejects.toMatchObject({ code: 'read_messages', cause: { message: 'cannot be read' } });
});

test('readMessages: ends if the messages that were left are removed before they are delivered', async () => {
  await write(4, 0, 10);
  const gate = await openLogGate(nats.url);
  const through = await connectLog({ url: gate.url, name: 'through' });
  const held = gate.hold(`$JS.API.CONSUMER.MSG.NEXT.${streams.events}.*`);
  const seen: number[] = [];
  const reading = readMessages(through, {
    stream: streams.events,
    filterSubject: eventsOfPartition(4),
    from: { timeMs: 0 },
    content: 'headers',
    messagesPerPull: 100,
    silenceMaxMs: 5_000,
    onMessage: ({ seq }) => void seen.push(seq),
  });
  await held.arrived;
  for (const account of ['a0', 'a1', 'a2']) await purgeSubject(connection, streams.events, eventsSubject(account, 4));
  held.release();
  expect([await reading, seen]).toEqual([0, []]);
  await through.close();
  await gate.close();
});

test('readMessages: up to a sequence, a message that is stored after its consumer was created is read', async () => {
  const gate = await openLogGate(nats.url);
  const through = await connectLog({ url: gate.url, name: 'through' });
  const { state } = await connection[client].jsm.streams.info(streams.events);
  const next = state.last_seq + 1;
  const held = gate.hold(`$JS.API.STREAM.MSG.GET.${streams.events}`);
  const seen: number[] = [];
  const reading = readMessages(through, {
    stream: streams.events,
    filterSubject: eventsOfPartition(3),
    from: { seq: next, toSeq: next },
    content: 'headers',
    messagesPerPull: 100,
    silenceMaxMs: 10_000,
    onMessage: ({ seq }) => void seen.push(seq),
  });
  await Promise.race([held.arrived, reading]);
  await write(3, 100, 101);
  held.release();
  expect([await reading, seen]).toEqual([1, [next]]);
  await through.close();
  await gate.close();
});

test('readMessages: lastStored returns the newest message of the subject, and storedAt returns the message at a sequence', async () => {
  await write(2, 0, 4);
  const last = await lastStored(connection, streams.events, eventsSubject('a0', 2));
  expect(last?.msgId).toBe('2-3');
  expect(await storedAt(connection, streams.events, last?.seq ?? 0)).toEqual(last);
  expect(await lastStored(connection, streams.events, eventsSubject('nobody', 2))).toBeUndefined();
  expect(await storedAt(connection, streams.events, 1_000_000)).toBeUndefined();
});
