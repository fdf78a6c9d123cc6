import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { logFormat } from '../../contracts/log-format.ts';
import type { NatsServer } from '../../embedded/nats/nats-server.ts';
import { CannotStartError } from '../../runtime/cannot-start.ts';
import { startTestNats, startTestNatsCluster } from '../../testing/servers.ts';
import { testTopology } from '../../testing/test-topology.ts';
import { openBucket } from '../buckets/bucket.ts';
import { client } from '../connection/client.ts';
import { connectLog } from '../connection/connection.ts';
import type { LogConnection } from '../connection/connection.ts';
import {
  ForeignLogError,
  TopologyError,
  ensureTopology,
  readLogFormat,
  refuseFewerCopies,
  streams,
} from './topology.ts';

const bytesMax = 8 * 1024 ** 2;
const settings = testTopology({ partitions: 2, streamBytesMax: bytesMax });

let connection: LogConnection;
const configOf = async (stream: string) => (await connection[client].jsm.streams.info(stream)).config;

describe('one server', () => {
  let server: NatsServer;

  // Each test has its own log: nats-server removes a deleted stream later, and meanwhile may refuse one of its name.
  beforeEach(async () => {
    server = await startTestNats();
    connection = await connectLog({ url: server.url, name: 'test' });
  });
  afterEach(async () => {
    await connection.close();
    await server.stop();
  });

  test('topology: a log has the id of its deployment, and another deployment refuses the log before changing anything', async () => {
    await ensureTopology(connection, settings, 'deployment-a');
    await ensureTopology(connection, settings, 'deployment-a');
    // A gateway has no database, and passes no deployment id.
    await ensureTopology(connection, settings);
    const other = ensureTopology(connection, { ...settings, ingestBytesMax: 2 * bytesMax }, 'deployment-b');
    await expect(other).rejects.toBeInstanceOf(ForeignLogError);
    await expect(other).rejects.toThrow(/deployment-a.*deployment-b.*NATS_URL and DATABASE_URL.*update deployment set/);
    expect((await configOf(streams.ingest)).max_bytes).toBe(bytesMax);
  });

  test('topology: a log without an id gets the id of the first deployment that has an id, and other deployments refuse the log', async () => {
    await ensureTopology(connection, settings);
    await ensureTopology(connection, settings, 'deployment-a');
    expect((await configOf(streams.ingest)).metadata).toMatchObject({
      'sluice.partitions': '2',
      'sluice.deployment': 'deployment-a',
      'sluice.format': String(logFormat),
    });
    await expect(ensureTopology(connection, settings, 'deployment-b')).rejects.toBeInstanceOf(ForeignLogError);
  });

  test('topology: a log without a format gets the format of this build, and a log of a newer format is refused before any change', async () => {
    const { jsm } = connection[client];
    const write = (metadata: Record<string, string>) => jsm.streams.update(streams.ingest, { metadata });
    expect(await readLogFormat(connection)).toBeUndefined();
    await ensureTopology(connection, settings);
    await write({ 'sluice.partitions': '2' });
    await ensureTopology(connection, settings);
    expect((await configOf(streams.ingest)).metadata).toMatchObject({ 'sluice.format': String(logFormat) });
    await write({ 'sluice.partitions': '2', 'sluice.format': String(logFormat + 1) });
    const refused = ensureTopology(connection, { ...settings, ingestBytesMax: 2 * bytesMax });
    await expect(refused).rejects.toBeInstanceOf(CannotStartError);
    await expect(refused).rejects.toThrow(/NATS_URL is of format 3.*reads up to 2.*a newer version has written/);
    expect(await readLogFormat(connection)).toBe(logFormat + 1);
    expect((await configOf(streams.ingest)).max_bytes).toBe(bytesMax);
  });

  test('topology: a stream allows more consumers than the server’s default of a thousand, even if it existed before', async () => {
    await connection[client].jsm.streams.add({ name: streams.events, subjects: ['events.*.*'], max_bytes: bytesMax });
    await ensureTopology(connection, settings);
    const add = (index: number) =>
      connection[client].jsm.consumers.add(streams.events, { durable_name: `reader-${index}`, mem_storage: true });
    for (let first = 0; first < 1_100; first += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, offset) => add(first + offset)));
    }
    expect((await connection[client].jsm.streams.info(streams.events)).state.consumer_count).toBe(1_100);
  });

  test('topology: dead letters have a maximal age, in an existing log as well, and ingest dead letters discard the oldest', async () => {
    await connection[client].jsm.streams.add({ name: streams.deadLetters, subjects: ['dead.*'], max_bytes: bytesMax });
    await ensureTopology(connection, settings);
    expect((await configOf(streams.deadLetters)).max_age).toBe(settings.deadLetterAgeMs * 1e6);
    expect(await configOf(streams.ingestDeadLetters)).toMatchObject({
      discard: 'old',
      max_age: settings.deadLetterAgeMs * 1e6,
    });
  });

  test('topology: copies that one server cannot keep are refused', async () => {
    await ensureTopology(connection, settings);
    const refused = refuseFewerCopies(connection, 3);
    await expect(refused).rejects.toBeInstanceOf(TopologyError);
    await expect(refused).rejects.toThrow(/LOG_REPLICAS is 3.*in no cluster.*LOG_REPLICAS=1/);
    await refuseFewerCopies(connection, 1);
  });
});

describe('three servers', () => {
  let nodes: NatsServer[];

  beforeAll(async () => {
    nodes = await startTestNatsCluster();
    connection = await connectLog({ url: nodes.map(({ url }) => url).join(','), name: 'test' });
  });
  afterAll(async () => {
    await connection.close();
    await Promise.all(nodes.map((node) => node.stop()));
  });

  test('topology: a start adds replicas and never removes any', async () => {
    await refuseFewerCopies(connection, 1);
    await ensureTopology(connection, settings);
    await refuseFewerCopies(connection, 3);
    await ensureTopology(connection, { ...settings, replicas: 3 });
    expect((await configOf(streams.events)).num_replicas).toBe(3);
    const bucket = { name: 'TEST', bytesMax };
    await openBucket(connection, { ...bucket, replicas: 3 });
    await expect(refuseFewerCopies(connection, 1)).rejects.toThrow(/INGEST has 3 copies.*LOG_REPLICAS is 1/);
    // A process that reconnects with the settings of its start does not reduce the copies either.
    await ensureTopology(connection, settings);
    await openBucket(connection, { ...bucket, replicas: 1 });
    expect((await configOf(streams.events)).num_replicas).toBe(3);
    expect((await configOf('KV_TEST')).num_replicas).toBe(3);
  });
});
