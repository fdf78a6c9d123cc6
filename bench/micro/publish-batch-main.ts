/**
 * Compares an atomic batch with the same number of single publishes in flight, on one server and on three:
 * `npm run build && node dist/bench/micro/publish-batch-main.js [secondsEach]`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultEmbeddedCacheDir, findNatsServer } from '../../shared/embedded/nats/nats-binary.ts';
import { startNatsCluster } from '../../shared/embedded/nats/nats-cluster.ts';
import { startNatsServer } from '../../shared/embedded/nats/nats-server.ts';
import type { NatsServer } from '../../shared/embedded/nats/nats-server.ts';
import { client } from '../../shared/nats/connection/client.ts';
import { connectLog } from '../../shared/nats/connection/connection.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { publishBatch } from '../../shared/nats/publish/publish-batch.ts';
import type { BatchMessage } from '../../shared/nats/publish/publish-batch.ts';
import { publish } from '../../shared/nats/publish/publisher.ts';
import { eventsSubject } from '../../shared/contracts/subjects.ts';
import { readTopologySettings, topologyEnv } from '../../shared/nats/streams/topology-settings.ts';
import { ensureTopology, streams } from '../../shared/nats/streams/topology.ts';
import { defaultsOf } from '../../shared/runtime/env.ts';
import { medianOf } from '../result/figure.ts';
import { processCpuMs } from '../machine/process-use.ts';

type Reading = { readonly perS: number; readonly serverMicros: number; readonly clientMicros: number };
type Work = (messages: readonly BatchMessage[]) => Promise<unknown>;

const rounds = 3;
const timeoutMs = 20_000;
const secondsEach = Number(process.argv[2] ?? '0.5');
const sizes = [2, 4, 16, 64];
const payloads = [600, 20_000];

const { path: binaryPath } = await findNatsServer({
  cacheDir: defaultEmbeddedCacheDir(),
  onProgress: (line) => process.stdout.write(`${line}\n`),
});
const folder = await mkdtemp(join(tmpdir(), 'sluice-batch-'));
try {
  process.stdout.write('servers bytes messages | in flight: per s, us server, us client | batch: the same | ratio\n');
  await onLog([await startNatsServer({ binaryPath, storeDir: join(folder, 'one') })]);
  await onLog(
    await startNatsCluster(
      'batch',
      ['a', 'b', 'c'].map((name) => ({ binaryPath, storeDir: join(folder, name) })),
    ),
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function onLog(servers: readonly NatsServer[]): Promise<void> {
  const connection = await connectLog({ url: servers.map(({ url }) => url).join(','), name: 'bench' });
  try {
    const usual = readTopologySettings(defaultsOf(topologyEnv));
    await ensureTopology(connection, { ...usual, partitions: 1, replicas: servers.length });
    for (const bytes of payloads) for (const size of sizes) await compare(connection, servers, bytes, size);
  } finally {
    await connection.close();
    await Promise.all(servers.map((server) => server.stop()));
  }
}

async function compare(connection: LogConnection, servers: readonly NatsServer[], bytes: number, size: number) {
  const works: Record<'inFlight' | 'batch', Work> = {
    inFlight: (messages) =>
      Promise.all(
        messages.map((message) => publish(connection, message.subject, message.payload, { ...message, timeoutMs })),
      ),
    batch: (messages) => publishBatch(connection, messages, timeoutMs),
  };
  const readings: Record<keyof typeof works, Reading[]> = { inFlight: [], batch: [] };
  // Alternates between batches and single publishes, so that a slow moment of the machine affects both.
  for (let round = 0; round < rounds; round += 1) {
    for (const name of ['inFlight', 'batch'] as const) {
      readings[name].push(await measure(works[name], servers, `${name}-${bytes}-${size}-${round}`, bytes, size));
      await connection[client].jsm.streams.purge(streams.events);
    }
  }
  const [inFlight, batch] = [medianReading(readings.inFlight), medianReading(readings.batch)];
  const shown = ({ perS, serverMicros, clientMicros }: Reading): string =>
    [perS, serverMicros, clientMicros].map(Math.round).join(' ');
  const ratio = (batch.perS / inFlight.perS).toFixed(2);
  process.stdout.write(`${servers.length} ${bytes} ${size} | ${shown(inFlight)} | ${shown(batch)} | ${ratio}\n`);
}

async function measure(work: Work, servers: readonly NatsServer[], name: string, bytes: number, size: number) {
  const payload = new Uint8Array(bytes);
  const serverCpuMs = async (): Promise<number> =>
    (await Promise.all(servers.map(({ pid }) => processCpuMs(pid)))).reduce((sum, ms) => sum + ms, 0);
  const [serverBefore, clientBefore, startedMs] = [await serverCpuMs(), process.cpuUsage(), performance.now()];
  let published = 0;
  while (performance.now() - startedMs < secondsEach * 1_000) {
    const messages = Array.from({ length: size }, (_, index) => ({
      subject: eventsSubject(`account-${index}`, 0),
      payload,
      msgId: `${name}-${published + index}`,
      headers: { Ids: 'as long as the ids of a few events' },
    }));
    await work(messages);
    published += size;
  }
  const seconds = (performance.now() - startedMs) / 1_000;
  const client = process.cpuUsage(clientBefore);
  return {
    perS: published / seconds,
    serverMicros: ((await serverCpuMs()) - serverBefore) * (1_000 / published),
    clientMicros: (client.user + client.system) / published,
  };
}

function medianReading(readings: readonly Reading[]): Reading {
  const median = (key: keyof Reading): number => medianOf(readings.map((reading) => reading[key]));
  return { perS: median('perS'), serverMicros: median('serverMicros'), clientMicros: median('clientMicros') };
}
