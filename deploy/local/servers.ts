import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { chooseFileStoreBytes } from '../../shared/embedded/nats/nats-config.ts';
import { findFreePort } from '../../shared/embedded/machine/free-port.ts';
import { defaultEmbeddedCacheDir, findNatsServer } from '../../shared/embedded/nats/nats-binary.ts';
import { endLeftNatsServer, startNatsServer } from '../../shared/embedded/nats/nats-server.ts';
import { moveToAccount } from '../../shared/embedded/nats/move-to-account.ts';
import { endLeftPostgresServer, startPostgresServer } from '../../shared/embedded/postgres/postgres-server.ts';
import { bucketSettings, openBuckets } from '../../shared/nats/buckets/open-buckets.ts';
import { connectLog } from '../../shared/nats/connection/connection.ts';
import { readTopologySettings } from '../../shared/nats/streams/topology-settings.ts';
import type { TopologySettings } from '../../shared/nats/streams/topology-settings.ts';
import { ensureTopology, streamConfigs } from '../../shared/nats/streams/topology.ts';
import { logAccount, logUsers } from '../../shared/nats/users/log-users.ts';
import type { LogUserName } from '../../shared/nats/users/log-users.ts';
import { quote, renderAccounts } from '../../shared/nats/users/render-users.ts';
import { migrationList } from '../../shared/postgres/migrations/migration-list.ts';
import { databaseRolesEnv, readRoles } from '../../shared/postgres/roles/role-settings.ts';
import type { DatabaseService } from '../../shared/postgres/roles/service-roles.ts';
import { defaultsOf } from '../../shared/runtime/env.ts';
import { fitToMachine } from '../../shared/runtime/fit-to-machine.ts';
import { readMachine } from '../../shared/runtime/machine.ts';
import type { StackEnv } from './env.ts';
import type { StackPasswords } from './passwords.ts';
import { keepRunning } from './keep-running.ts';
import type { Progress } from './progress.ts';
import { restartWhenRoom } from './restart-when-room.ts';

type StackServer = { stop(): Promise<void> };

/** A user of the log with its password. */
export type LogLogin = { readonly user: string; readonly password: string };

export type StackLog = StackServer & {
  readonly url: string;
  /**
   * `monitorUrl` and `logins` are undefined for the caller's own servers: their settings are in the caller's
   * environment.
   */
  readonly monitorUrl: string | undefined;
  readonly logins: Readonly<Record<LogUserName, LogLogin>> | undefined;
};

export type StackDatabase = StackServer & {
  /** The address of the database for each service, with the service's login. */
  readonly urls: Readonly<Record<DatabaseService, string>>;
  /** Whether the schema is already up to date. If not, the control plane migrates it. */
  readonly isMigrated: boolean;
};

/** Connects to the servers of NATS_URL; without it, starts an embedded nats-server and keeps it running. */
export async function startLog(
  env: StackEnv,
  folder: string,
  passwords: StackPasswords['log'],
  progress: Progress,
): Promise<StackLog> {
  if (env.NATS_URL !== undefined) {
    return { url: env.NATS_URL, monitorUrl: undefined, logins: undefined, stop: nothing };
  }
  return progress.step('nats-server', async (note) => {
    const binary = await findNatsServer({ cacheDir: defaultEmbeddedCacheDir(), onProgress: note });
    const storeDir = join(folder, 'nats');
    // Otherwise a server that a killed stack left would keep the port, and this start would use another port.
    await endLeftNatsServer(storeDir);
    const port = await findFreePort(env.NATS_PORT);
    const monitorPort = await findFreePort(env.NATS_MONITOR_PORT);
    if (port !== env.NATS_PORT) note(`port ${env.NATS_PORT} is in use, taking ${port} (NATS_PORT)`);
    await mkdir(storeDir, { recursive: true });
    const maxFileStoreBytes = env.NATS_STORE_BYTES_MAX ?? (await chooseFileStoreBytes(storeDir, streamsBytesMax(env)));
    if (await moveToAccount(storeDir, logAccount)) note(`moved the log into the account ${logAccount}`);
    const furtherConfig = renderAccounts((name) => quote(passwords[name]));
    const fitted = fitToMachine(readMachine());
    const cores = env.GOMAXPROCS ?? fitted.logCores;
    const memoryLimit = env.GOMEMLIMIT ?? `${fitted.logMemoryMib}MiB`;
    const options = { binaryPath: binary.path, storeDir, port, monitorPort, maxFileStoreBytes, furtherConfig, cores };
    const kept = await keepRunning({
      name: 'nats-server',
      say: progress.line,
      start: () => startNatsServer({ ...options, memoryLimit }),
    });
    const logins = loginsOf(passwords);
    try {
      await createLog(kept.current.url, logins.controlPlane, topologyOf(env));
    } catch (error) {
      await kept.stop();
      throw error;
    }
    const healing = restartWhenRoom({ current: () => kept.current, storeDir, say: progress.line });
    const gibibytes = (maxFileStoreBytes / 1024 ** 3).toFixed(1);
    note(
      `nats-server ${binary.version}, JetStream on file, every write synced, up to ${gibibytes} GiB, on ${cores} ${cores === 1 ? 'core' : 'cores'} at a time, with a soft memory limit of ${memoryLimit}`,
    );
    return {
      url: kept.current.url,
      monitorUrl: kept.current.monitorUrl,
      logins,
      stop() {
        healing.stop();
        return kept.stop();
      },
    };
  });
}

/**
 * Creates streams and buckets before any service starts: otherwise services without the right to create them would
 * request missing ones, which the server logs as errors.
 */
async function createLog(url: string, login: LogLogin, topology: TopologySettings): Promise<void> {
  const log = await connectLog({ url, login: { kind: 'password', ...login }, name: 'launcher' });
  try {
    await ensureTopology(log, topology);
    await openBuckets(log, topology.replicas);
  } finally {
    await log.close(closeWithinMs);
  }
}

const loginsOf = (passwords: StackPasswords['log']): Record<LogUserName, LogLogin> =>
  Object.fromEntries(
    Object.entries(logUsers).map(([name, { name: user }]) => [
      name,
      { user, password: passwords[name as LogUserName] },
    ]),
  ) as Record<LogUserName, LogLogin>;

/** The database of DATABASE_URL, else an embedded PostgreSQL that is kept running, with a role for each service. */
export async function startDatabase(
  env: StackEnv,
  folder: string,
  passwords: StackPasswords['database'],
  progress: Progress,
): Promise<StackDatabase> {
  if (env.DATABASE_URL !== undefined) {
    const urls = { controlPlane: env.DATABASE_URL, pipeline: env.DATABASE_URL };
    return { urls, isMigrated: false, stop: nothing };
  }
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
    try {
      return { urls: await migrateAsOwner(kept.current.url, passwords), isMigrated: true, stop: kept.stop };
    } catch (error) {
      await kept.stop();
      throw error;
    }
  });
}

/** Migrates the database as the owner of its tables. Returns the address with each service's role. */
async function migrateAsOwner(
  ownerUrl: string,
  passwords: StackPasswords['database'],
): Promise<Record<DatabaseService, string>> {
  // Loaded on demand: the caller's own database is migrated by the control plane, not here.
  const { migrate } = await import('../../shared/postgres/migrate.ts');
  const names = defaultsOf(databaseRolesEnv);
  const roles = readRoles({
    ...names,
    DATABASE_CONTROL_PLANE_PASSWORD: passwords.controlPlane,
    DATABASE_PIPELINE_PASSWORD: passwords.pipeline,
  });
  await migrate(ownerUrl, undefined, migrationList, roles);
  const addresses = roles.map(({ service, name }) => {
    const url = new URL(ownerUrl);
    url.username = name;
    url.password = passwords[service];
    return [service, url.href];
  });
  return Object.fromEntries(addresses) as Record<DatabaseService, string>;
}

const topologyOf = (env: StackEnv): TopologySettings => readTopologySettings({ ...env, LOG_REPLICAS: 1 });

/** Sum of the limits of all streams and buckets. */
function streamsBytesMax(env: StackEnv): number {
  const topology = topologyOf(env);
  const limits = [
    ...streamConfigs(topology).map((stream) => stream.max_bytes ?? 0),
    ...Object.values(bucketSettings(topology.replicas)).map((bucket) => bucket.bytesMax),
  ];
  return limits.reduce((sum, bytesMax) => sum + bytesMax, 0);
}

const nothing = (): Promise<void> => Promise.resolve();
const closeWithinMs = 5_000;
