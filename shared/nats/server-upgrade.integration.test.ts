import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { DeliverPolicy, nanos } from 'nats';
import type { ConsumerInfo, JsMsg, StreamInfo } from 'nats';
import { afterEach, expect, test } from 'vitest';
import type { NatsServer, NatsServerOptions } from '../embedded/nats/nats-server.ts';
import { moveToAccount } from '../embedded/nats/move-to-account.ts';
import { asOperator, testUsersInOneAccountConfig } from '../testing/as-log-user.ts';
import { fetchOlderNatsServer } from '../testing/older-nats-server.ts';
import { createNatsFolder, startTestNats } from '../testing/servers.ts';
import { testTopology } from '../testing/test-topology.ts';
import { client } from './connection/client.ts';
import { connectLog } from './connection/connection.ts';
import type { LogConnection } from './connection/connection.ts';
import { consumerPolicy } from './consume/consumers.ts';
import { openPullConsumer } from './consume/pull-consumer.ts';
import { inspectLog } from './monitor/inspect-log.ts';
import { bucketSettings, openBuckets } from './buckets/open-buckets.ts';
import type { Buckets } from './buckets/open-buckets.ts';
import { publish } from './publish/publisher.ts';
import { deadLetterSubject, eventsSubject, ingestSubject, retrySubject } from '../contracts/subjects.ts';
import { ensureTopology, streams } from './streams/topology.ts';
import { logAccount } from './users/log-users.ts';

const older = await fetchOlderNatsServer().catch((error: unknown): undefined => {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`SKIPPED: no data folder of an older nats-server was taken over: ${reason}\n`);
});

const settings = testTopology({ partitions: 2, consumersMax: 2_000 });
const consumer = {
  stream: streams.events,
  name: 'dispatcher-one',
  filterSubject: 'events.a.*',
  startFrom: 'first',
  ackWaitMs: 1_000,
  ackPendingMax: 100,
} as const;
const events = 120;
const timeoutMs = 20_000;

const ended: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) await end();
});

async function start(options: Partial<NatsServerOptions>): Promise<NatsServer> {
  const server = await startTestNats(options);
  ended.push(() => server.stop());
  return server;
}

async function connect({ url }: NatsServer, acceptsOldServer = false): Promise<LogConnection> {
  const connection = await connectLog({ url, name: 'test', acceptsOldServer });
  ended.push(() => connection.close());
  return connection;
}

/** Writes messages, and entries in every bucket. */
async function fill(connection: LogConnection, buckets: Buckets): Promise<void> {
  for (let i = 0; i < events; i += 1) {
    const body = Buffer.from(`${i} ${'x'.repeat(i * 20)}`);
    const headers = { 'Sluice-Ids': String(i) };
    await publish(connection, ingestSubject(i % 2), body, { msgId: `in-${i}`, timeoutMs });
    await publish(connection, eventsSubject('a', i % 2), body, { msgId: `out-${i}`, headers, timeoutMs });
  }
  await publish(connection, retrySubject('one', 1), Buffer.from('retry'), { msgId: 'retry', timeoutMs });
  await publish(connection, deadLetterSubject('one'), Buffer.from('dead'), { msgId: 'dead', timeoutMs });
  // Purges finished messages, as retention does.
  await connection[client].jsm.streams.purge(streams.ingest, { seq: 31 });
  for (const bucket of Object.values(buckets)) {
    for (let i = 0; i < 5; i += 1) await bucket.put('changed', Buffer.from(`value ${i}`));
    await bucket.put('gone', Buffer.from('x'));
    await bucket.delete('gone');
  }
}

/** Creates the consumer as builds for the old server did: without an owner. */
async function makeAsBefore({ [client]: { jsm } }: LogConnection): Promise<void> {
  await jsm.consumers.add(consumer.stream, {
    durable_name: consumer.name,
    filter_subject: consumer.filterSubject,
    ...consumerPolicy,
    deliver_policy: DeliverPolicy.All,
    ack_wait: nanos(consumer.ackWaitMs),
    max_ack_pending: consumer.ackPendingMax,
  });
}

/** Waits until the consumer's position is on disk: the old server writes it a moment after it has answered. */
async function untilStored(storeDir: string, sinceMs: number): Promise<void> {
  const file = join(storeDir, 'jetstream/$G/streams', consumer.stream, 'obs', consumer.name, 'o.dat');
  const writtenAtMs = (): Promise<number> =>
    stat(file)
      .then(({ mtimeMs }) => mtimeMs)
      .catch(() => 0);
  // If the file was written during the last acknowledgements, it is written again within half a second.
  for (let lastMs = 0, stableMs = 0; stableMs < 1_000; stableMs += 100) {
    await wait(100);
    const atMs = await writtenAtMs();
    if (atMs < sinceMs || atMs !== lastMs) stableMs = 0;
    lastMs = atMs;
  }
}

async function take(connection: LogConnection, count: number): Promise<JsMsg[]> {
  const reader = await connection[client].js.consumers.get(consumer.stream, consumer.name);
  const taken: JsMsg[] = [];
  for await (const message of await reader.fetch({ max_messages: count, expires: timeoutMs })) taken.push(message);
  return taken;
}

const leases = 'KV_LEASES';

/** Reads everything that a log contains, so that two reads can be compared. */
async function look(connection: LogConnection): Promise<unknown> {
  const found = new Map<string, unknown>();
  for await (const info of connection[client].jsm.streams.list()) {
    const consumers: unknown[] = [];
    for await (const one of connection[client].jsm.consumers.list(info.config.name)) consumers.push(placeOf(one));
    // Leases expire while the servers start.
    const held = info.config.name === leases ? {} : { ...stateOf(info), contents: await contentsOf(connection, info) };
    found.set(info.config.name, { ...held, limits: limitsOf(info), consumers });
  }
  return Object.fromEntries([...found].toSorted(([a], [b]) => a.localeCompare(b)));
}

const stateOf = ({ state }: StreamInfo): object => ({
  messages: state.messages,
  bytes: state.bytes,
  first: state.first_seq,
  last: state.last_seq,
});

const limitsOf = ({ config }: StreamInfo): readonly unknown[] => [
  config.max_bytes,
  config.max_age,
  config.discard,
  config.retention,
  config.duplicate_window,
  config.metadata?.['sluice.partitions'],
];

const placeOf = (info: ConsumerInfo): object => ({
  name: info.name,
  delivered: info.delivered.stream_seq,
  floor: info.ack_floor.stream_seq,
  given: info.num_ack_pending,
  waiting: info.num_pending,
});

async function contentsOf({ [client]: { jsm } }: LogConnection, { config, state }: StreamInfo): Promise<string> {
  const hash = createHash('sha256');
  for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
    const message = await jsm.streams.getMessage(config.name, { seq }).catch(() => undefined);
    if (message === undefined) continue;
    const headers = message.header.keys().map((name) => [name, message.header.get(name)]);
    hash.update(JSON.stringify([seq, message.subject, headers])).update(message.data);
  }
  return hash.digest('hex');
}

test.skipIf(older === undefined).each([
  ['stopped', (server: NatsServer) => server.stop()],
  ['killed', (server: NatsServer) => server.kill()],
])(
  'server upgrade: after a nats-server 2.10 was %s, its data folder is moved to an account and read by the new server',
  async (_, end) => {
    const storeDir = await createNatsFolder();
    const furtherConfig = testUsersInOneAccountConfig();
    const before = await start({ storeDir, binaryPath: older?.path ?? '', furtherConfig });
    const old = await connect({ ...before, url: asOperator(before.url) }, true);
    expect(old.problem).toContain('is older than');
    await ensureTopology(old, settings);
    await fill(old, await openBuckets(old, 1));
    await makeAsBefore(old);
    const given = await take(old, 40);
    // Messages 0 to 19, and after them those with odd numbers, are acknowledged; the others are in flight.
    let lastAckAtMs = 0;
    for (const [at, message] of given.entries()) {
      if (at >= 20 && at % 2 === 0) continue;
      lastAckAtMs = Date.now();
      expect(await message.ackAck()).toBe(true);
    }
    await untilStored(storeDir, lastAckAtMs);
    const wanted = await look(old);
    await old.close();
    await end(before);
    // The streams of a server without accounts are moved to an account.
    expect(await moveToAccount(storeDir, logAccount)).toBe(true);
    expect(await moveToAccount(storeDir, logAccount)).toBe(false);

    const connection = await connect(await start({ storeDir }));
    expect(await look(connection)).toEqual(wanted);
    // Nothing has to be created or changed, and all settings are as the code wants them.
    expect((await ensureTopology(connection, settings)).created).toEqual([]);
    const buckets = await openBuckets(connection, 1);
    const report = await inspectLog(connection, settings);
    expect(report.streams.filter(({ differences }) => differences?.length !== 0)).toEqual([]);
    expect(report.streams).toHaveLength(Object.keys(streams).length + Object.keys(bucketSettings(1)).length);
    for (const [name, bucket] of Object.entries(buckets)) {
      // The leases have expired.
      if (name === 'leases') continue;
      expect(Buffer.from((await bucket.get('changed'))?.value ?? []).toString()).toBe('value 4');
      expect((await bucket.get('gone'))?.value).toBeUndefined();
      expect(await bucket.putIfUnchanged('changed', Buffer.from('next'), 0)).toBeUndefined();
    }

    // The server knows the ids of messages from before the upgrade: a message sent again is a duplicate.
    const again = { msgId: `out-${events - 1}`, timeoutMs };
    expect(await publish(connection, eventsSubject('a', 0), Buffer.from('again'), again)).toMatchObject({
      duplicate: true,
    });
    // The consumer's new reader receives all messages after the acknowledged floor, in order.
    const pullConsumer = await openPullConsumer(connection, { consumer, bufferedMax: 50 });
    ended.push(() => pullConsumer.close());
    const came: number[] = [];
    while (came.length < events - 20) {
      for (const message of await pullConsumer.take(50)) {
        came.push(message.seq);
        message.ack();
      }
    }
    expect(came).toEqual(
      given
        .slice(20)
        .map(({ seq }) => seq)
        .concat(came.slice(20)),
    );
    expect(came).toEqual(came.toSorted((a, b) => a - b));
    await expect
      .poll(
        async () => (await connection[client].jsm.consumers.info(consumer.stream, consumer.name)).ack_floor.stream_seq,
      )
      .toBe(events);
  },
);
