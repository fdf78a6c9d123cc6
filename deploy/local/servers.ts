import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { chooseFileStoreBytes } from '../../shared/embedded/nats/nats-config.ts';
import { findFreePort } from '../../shared/embedded/machine/free-port.ts';
import { defaultEmbeddedCacheDir, findNatsServer } from '../../shared/embedded/nats/nats-binary.ts';
import { endLeftNatsServer, startNatsServer } from '../../shared/embedded/nats/nats-server.ts';
import { endLeftPostgresServer, startPostgresServer } from '../../shared/embedded/postgres/postgres-server.ts';
import { bucketSettings } from '../../shared/nats/buckets/open-buckets.ts';
import { readTopologySettings } from '../../shared/nats/streams/topology-settings.ts';
import { streamConfigs } from '../../shared/nats/streams/topology.ts';
import type { StackEnv } from './env.ts';
import { keepRunning } from './keep-running.ts';
import type { Progress } from './progress.ts';
import { restartWhenRoom } from './restart-when-room.ts';

export type StackServer = { readonly url: string; stop(): Promise<void> };

/** `monitorUrl` is undefined where only the caller's own settings know it. */
export type StackLog = StackServer & { readonly monitorUrl: string | undefined };

/** The log: NATS_URL's servers, else an embedded nats-server that is kept running. */
export async function startLog(env: StackEnv, folder: string, progress: Progress): Promise<StackLog> {
  if (env.NATS_URL !== undefined) return { ...external(env.NATS_URL), monitorUrl: undefined };
  return progress.step('nats-server', async (note) => {
    const binary = await findNatsServer({ cacheDir: defaultEmbeddedCacheDir(), onProgress: note });
    const storeDir = join(folder, 'nats');
    // One that a killed stack left would keep its port, and this start would move elsewhere.
    await endLeftNatsServer(storeDir);
    const port = await findFreePort(env.NATS_PORT);
    const monitorPort = await findFreePort(env.NATS_MONITOR_PORT);
    if (port !== env.NATS_PORT) note(`port ${env.NATS_PORT} is in use, taking ${port} (NATS_PORT)`);
    await mkdir(storeDir, { recursive: true });
    const maxFileStoreBytes = env.NATS_STORE_BYTES_MAX ?? (await chooseFileStoreBytes(storeDir, streamsBytesMax(env)));
    const options = { binaryPath: binary.path, storeDir, port, monitorPort, maxFileStoreBytes };
    const kept = await keepRunning({
      name: 'nats-server',
      say: progress.line,
      start: () => startNatsServer({ ...options, memoryLimit: env.GOMEMLIMIT }),
    });
    const healing = restartWhenRoom({ current: () => kept.current, storeDir, say: progress.line });
    const gibibytes = (maxFileStoreBytes / 1024 ** 3).toFixed(1);
    note(`nats-server ${binary.version}, JetStream on file, every write synced, up to ${gibibytes} GiB`);
    return {
      url: kept.current.url,
      monitorUrl: kept.current.monitorUrl,
      stop() {
        healing.stop();
        return kept.stop();
      },
    };
  });
}

/** The database: DATABASE_URL's, else an embedded PostgreSQL that is kept running. */
export async function startDatabase(env: StackEnv, folder: string, progress: Progress): Promise<StackServer> {
  if (env.DATABASE_URL !== undefined) return external(env.DATABASE_URL);
  return progress.step('PostgreSQL', async (note) => {
    const dataDir = join(folder, 'postgres');
    await endLeftPostgresServer(dataDir);
    const port = await findFreePort(env.POSTGRES_PORT);
    if (port !== env.POSTGRES_PORT) note(`port ${env.POSTGRES_PORT} is in use, taking ${port} (POSTGRES_PORT)`);
    const kept = await keepRunning({
      name: 'PostgreSQL',
      say: progress.line,
      start: () => startPostgresServer({ dataDir, port, onProgress: note }),
    });
    return { url: kept.current.url, stop: kept.stop };
  });
}

/** What streams and buckets may take together, by their own limits. */
function streamsBytesMax(env: StackEnv): number {
  const replicas = 1;
  const limits = [
    ...streamConfigs(readTopologySettings({ ...env, LOG_PARTITIONS: 1, LOG_REPLICAS: replicas })).map(
      (stream) => stream.max_bytes ?? 0,
    ),
    ...Object.values(bucketSettings(replicas)).map((bucket) => bucket.bytesMax),
  ];
  return limits.reduce((sum, bytesMax) => sum + bytesMax, 0);
}

const external = (url: string): StackServer => ({ url, stop: () => Promise.resolve() });
