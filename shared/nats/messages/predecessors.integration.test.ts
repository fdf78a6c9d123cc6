import { open, readdir, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import { expect, test, vi } from 'vitest';
import type { NatsServer } from '../../embedded/nats/nats-server.ts';
import { createNatsFolder, startTestNats } from '../../testing/servers.ts';
import { testTopology } from '../../testing/test-topology.ts';
import { client } from '../connection/client.ts';
import { connectLog } from '../connection/connection.ts';
import type { LogConnection } from '../connection/connection.ts';
import { openPullConsumer } from '../consume/pull-consumer.ts';
import type { PullConsumer } from '../consume/pull-consumer.ts';
import { createFramePublisher } from '../publish/frame-publisher.ts';
import type { FramePublisher } from '../publish/frame-publisher.ts';
import { keepLoss, listLosses, noticeLosses } from './lost-messages.ts';
import { deleteMessage, purgeSubject } from './subject-log.ts';
import { openBuckets } from '../buckets/open-buckets.ts';
import { readStreamLoss } from '../streams/stream-progress.ts';
import { ensureTopology, streams } from '../streams/topology.ts';
import { logAccount } from '../users/log-users.ts';

const subject = 'ingest.0';
const logger = pino({ level: 'silent' });

type DamagedLog = {
  readonly connection: LogConnection;
  readonly publisher: FramePublisher;
  /** Stores `count` frames, one after the other, and returns their texts. */
  store(count: number): Promise<readonly string[]>;
  reader(name: string): Promise<Reader>;
  /** Stops or kills the server, damages the newest block of the stream, and starts the server again. */
  restart(how: 'stop' | 'kill', damage: (file: string) => Promise<void>): Promise<void>;
};

/** Reads frames until one has the text `last`, and counts the reported losses. */
type Reader = {
  readUntil(last: string): Promise<readonly string[]>;
  skipTo(upTo: number): Promise<number>;
  readonly losses: () => number;
};

async function withLog(work: (log: DamagedLog) => Promise<void>): Promise<void> {
  const storeDir = await createNatsFolder();
  let server: NatsServer = await startTestNats({ storeDir });
  const connection = await connectLog({ url: server.url, name: 'test' });
  await ensureTopology(connection, testTopology());
  await openBuckets(connection, 1);
  const publisher = createFramePublisher(connection);
  const pullConsumers: PullConsumer[] = [];
  let stored = 0;
  try {
    await work({
      connection,
      publisher,
      async store(count) {
        const texts: string[] = [];
        for (let n = 0; n < count; n += 1) {
          stored += 1;
          const text = `frame ${String(stored).padStart(6, '0')}`;
          const payload = Buffer.from(text.padEnd(1_000, '.'));
          await vi.waitFor(async () => expect(await publisher.publish(subject, payload, text, 5_000)).toBeUndefined(), {
            timeout: 45_000,
            interval: 50,
          });
          texts.push(text);
        }
        return texts;
      },
      async reader(name) {
        let losses = 0;
        const watch = noticeLosses({ connection, stream: streams.ingest, logger, fields: { name } }, () => {
          losses += 1;
        });
        const consumer = { stream: streams.ingest, name, filterSubject: subject, startFrom: 'first' as const };
        const pullConsumer = await openPullConsumer(connection, {
          consumer: { ...consumer, ackWaitMs: 1_000, ackPendingMax: 1_000 },
          bufferedMax: 16,
          losses: watch,
        });
        pullConsumers.push(pullConsumer);
        const readUntil = async (last: string): Promise<readonly string[]> => {
          const texts: string[] = [];
          while (!texts.includes(last)) {
            for (const message of await pullConsumer.take(16)) {
              texts.push(Buffer.from(message.data).toString('utf8').slice(0, 'frame 000000'.length));
              message.ack();
            }
          }
          return texts;
        };
        return { readUntil, skipTo: (upTo) => pullConsumer.skipTo(upTo), losses: () => losses };
      },
      async restart(how, damage) {
        const { port } = server;
        const { reconnects } = connection;
        await (how === 'stop' ? server.stop() : server.kill());
        const folder = join(storeDir, 'jetstream', logAccount, 'streams', streams.ingest, 'msgs');
        const blocks = (await readdir(folder)).filter((name) => name.endsWith('.blk'));
        const newest = Math.max(...blocks.map((name) => Number.parseInt(name, 10)));
        await damage(join(folder, `${newest}.blk`));
        server = await startTestNats({ storeDir, port });
        // First waits for the connection: a request sent earlier would wait until its own deadline.
        await vi.waitFor(() => expect(connection.reconnects).toBeGreaterThan(reconnects), {
          timeout: 45_000,
          interval: 20,
        });
        await vi.waitFor(() => connection[client].jsm.streams.info(streams.ingest), { timeout: 45_000, interval: 50 });
      },
    });
  } finally {
    await Promise.all(pullConsumers.map((pullConsumer) => pullConsumer.close()));
    await connection.close();
    await server.stop();
  }
}

/** Changes one byte in the middle of the frame with this text. */
const damageFrame =
  (text: string) =>
  async (file: string): Promise<void> => {
    const handle = await open(file, 'r+');
    const at = (await handle.readFile()).indexOf(text) + 500;
    await handle.write(Buffer.from('!'), 0, 1, at);
    await handle.close();
  };

const cutOff =
  (bytes: number) =>
  async (file: string): Promise<void> => {
    await truncate(file, (await stat(file)).size - bytes);
  };

test('losses of the log: a damaged frame that the server skips is counted by its reader and recorded for the doctor', () =>
  withLog(async ({ connection, store, reader, restart }) => {
    const before = await store(20);
    const [quick, slow] = [await reader('quick'), await reader('slow')];
    expect(await quick.readUntil('frame 000020')).toEqual(before);
    expect((await slow.readUntil('frame 000005')).slice(0, 5)).toEqual(before.slice(0, 5));
    const later = await store(60);
    const damaged = later[40] ?? '';
    await restart('stop', damageFrame(damaged));
    const last = (await store(1))[0] ?? '';
    const given = new Set([...(await slow.readUntil(last)), ...before]);
    expect([...before, ...later, last].filter((text) => !given.has(text))).toEqual([damaged]);
    await vi.waitFor(() => expect(slow.losses()).toBe(1), { timeout: 45_000 });
    await vi.waitFor(async () => {
      expect(await listLosses(connection)).toEqual([
        { stream: streams.ingest, subject, seq: 61, noticedAtMs: expect.any(Number) },
      ]);
    });
  }));

test('losses of the log: a log that lost its end is reported by the server, and everything stored later reaches every reader', () =>
  withLog(async ({ connection, store, reader, restart }) => {
    const before = await store(30);
    const [ahead, behind] = [await reader('ahead'), await reader('behind')];
    await ahead.readUntil('frame 000030');
    await behind.readUntil('frame 000001');
    await restart('kill', cutOff(200));
    expect((await readStreamLoss(connection, streams.ingest))?.bytes).toBeGreaterThan(0);
    const after = await store(10);
    const last = after.at(-1) ?? '';
    const [givenAhead, givenBehind] = [await ahead.readUntil(last), await behind.readUntil(last)];
    for (const text of after) {
      expect(givenAhead).toContain(text);
      expect(givenBehind).toContain(text);
    }
    for (const text of before.slice(16, 29)) expect(givenBehind).toContain(text);
  }));

test('losses of the log: the doctor lists every recorded loss', () =>
  withLog(async ({ connection }) => {
    const seqs = Array.from({ length: 400 }, (_, index) => index + 1);
    await Promise.all(seqs.map((seq) => keepLoss(connection, { stream: streams.events, subject: 'events.a.0', seq })));
    expect((await listLosses(connection)).map(({ seq }) => seq)).toEqual(seqs);
  }));

test('losses of the log: a frame that is only late is not counted', () =>
  withLog(async ({ store, reader, restart }) => {
    await store(5);
    const one = await reader('one');
    await one.readUntil('frame 000005');
    for (let round = 0; round < 3; round += 1) {
      await store(40);
      await restart('kill', async () => undefined);
      const last = (await store(5)).at(-1) ?? '';
      await one.readUntil(last);
    }
    expect(one.losses()).toBe(0);
  }));

test('losses of the log: skipped frames that were removed unread are not counted, and later losses are', () =>
  withLog(async ({ connection, store, reader }) => {
    await store(5);
    const one = await reader('one');
    await one.readUntil('frame 000005');
    await store(25);
    await purgeSubject(connection, streams.ingest, subject, 26);
    await deleteMessage(connection, streams.ingest, 28);
    await one.skipTo(25);
    await one.readUntil('frame 000030');
    // The log is asked in the order of the frames.
    await vi.waitFor(async () => expect((await listLosses(connection)).map(({ seq }) => seq)).toContain(28));
    expect((await listLosses(connection)).map(({ seq }) => seq)).toEqual([28]);
  }));
