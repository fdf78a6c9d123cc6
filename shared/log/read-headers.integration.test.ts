import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NatsServer } from '../embedded/nats-server.ts';
import { startTestNats } from '../testing/servers.ts';
import { connectLog } from './connection.ts';
import type { LogConnection } from './connection.ts';
import { lastMsgId } from './last-msg-id.ts';
import { publish } from './publisher.ts';
import { readHeaders } from './read-headers.ts';
import type { ReadHeadersOptions } from './read-headers.ts';
import { eventsOfPartition, eventsSubject } from './subjects.ts';
import { ensureTopology, streams } from './topology.ts';

let nats: NatsServer;
let connection: LogConnection;

beforeAll(async () => {
  nats = await startTestNats({ syncAlways: false });
  connection = await connectLog({ url: nats.url, name: 'test' });
  const bytesMax = 64 * 1024 * 1024;
  await ensureTopology(connection, {
    partitions: 4,
    replicas: 1,
    ingestBytesMax: bytesMax,
    eventsBytesMax: bytesMax,
    retryBytesMax: bytesMax,
    deadLetterBytesMax: bytesMax,
  });
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

async function read(partition: number, changes: Partial<ReadHeadersOptions> = {}): Promise<string[]> {
  const values: string[] = [];
  await readHeaders(connection, {
    stream: streams.events,
    filterSubject: eventsOfPartition(partition),
    sinceMs: 0,
    header: 'Test-Number',
    silenceMaxMs: 10_000,
    onValue: (value) => values.push(value),
    ...changes,
  });
  return values;
}

describe('readHeaders', () => {
  it('readHeaders: gives the header of every message of the subject that has it, in order, over many pulls', async () => {
    await write(0, 0, 5_500);
    await write(1, 0, 10);
    const numbers = Array.from({ length: 5_500 }, (_, n) => n).filter((n) => n % 10 !== 9);
    expect(await read(0)).toEqual(numbers.map(String));
    expect(await read(1)).toHaveLength(9);
    expect(await read(2)).toEqual([]);
  });

  it('readHeaders: begins at the time given', async () => {
    await write(3, 0, 1);
    const { time } = await connection.jsm.streams.getMessage(streams.events, { last_by_subj: 'events.*.3' });
    while (Date.now() <= time.getTime() + 1) await new Promise((resolve) => setTimeout(resolve, 1));
    await write(3, 1, 3);
    expect(await read(3, { sinceMs: time.getTime() + 1 })).toEqual(['1', '2']);
    expect(await read(3, { sinceMs: Date.now() + 60_000 })).toEqual([]);
  });

  it('readHeaders: stops when told to', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(read(0, { signal })).rejects.toThrow('enough');
    const later = new AbortController();
    const reading = read(0, { signal: later.signal, onValue: () => later.abort(new Error('enough')) });
    await expect(reading).rejects.toThrow('enough');
  });

  it('lastMsgId: is that of the newest message of the subject', async () => {
    await write(2, 0, 4);
    expect(await lastMsgId(connection, streams.events, eventsSubject('a0', 2))).toBe('2-3');
    expect(await lastMsgId(connection, streams.events, eventsSubject('nobody', 2))).toBeUndefined();
  });
});
