import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { endOrphan, type EndStep } from '../machine/end-process.ts';
import { claimFolder, type FolderClaim } from '../machine/folder-claim.ts';
import { choosePort } from '../machine/free-port.ts';
import { holdClaim, startServerProcess, type HeldServer, type ServerProcess } from '../machine/server-process.ts';
import { choosePostgresAccount } from './postgres-account.ts';
import { findPostgresBinaries, type PostgresBinaries } from './postgres-binaries.ts';
import { clusterDirOf, postgresSettings, postgresUser, prepareCluster } from './postgres-cluster.ts';
import { ensureDatabase, isAccepting, type DatabaseAddress } from './postgres-database.ts';
import { preparePostgresHome } from './postgres-home.ts';
import { findPostmaster, isPostmasterReady } from './postmaster.ts';
import type { Account } from './reachability.ts';

/** A running PostgreSQL server on loopback. */
export type PostgresServer = HeldServer & {
  /** URL of the database `sluice`, with its password. */
  readonly url: string;
  readonly port: number;
  /** Real folder of the data: `dataDir`, or the folder that `dataDir` links to. */
  readonly home: string;
  /** Creates the database if it does not exist, and returns its url. */
  createDatabase(name: string): Promise<string>;
};

export type PostgresServerOptions = {
  /** Folder of the data, the password and the log. `stop` keeps it. */
  readonly dataDir: string;
  /** 0 or omitted for a free port. A given port that is in use is an error. */
  readonly port?: number;
  /** Default `postgres.log` beside the data. */
  readonly logFile?: string;
  /** False is for tests: faster, but a power cut (not a kill) may corrupt the data. Default true. */
  readonly durable?: boolean;
  /** Further settings, such as certificates and who may connect. The user of `url` must still be able to connect. */
  readonly furtherSettings?: Readonly<Record<string, string>>;
  /** Receives one line if data or programs had to go to another folder. */
  readonly onProgress?: (line: string) => void;
};

const readyDeadlineMs = 120_000;
const startAttemptsMax = 3;
const backendsGoneDeadlineMs = 15_000;
const retryMs = 100;
// Fast shutdown, then immediate shutdown, after which the next start has to recover. Neither shutdown loses data.
const stopSteps: readonly EndStep[] = [
  { signal: 'SIGINT', waitMs: 15_000 },
  { signal: 'SIGQUIT', waitMs: 5_000 },
];

/**
 * Starts PostgreSQL on a folder, which the first start creates. First ends a server that a killed run left on that
 * folder.
 */
export async function startPostgresServer(options: PostgresServerOptions): Promise<PostgresServer> {
  const onProgress = options.onProgress ?? (() => undefined);
  const durable = options.durable ?? true;
  const account = await choosePostgresAccount(clusterDirOf(options.dataDir));
  const home = await preparePostgresHome(options.dataDir, account, onProgress);
  const claim = await claimFolder(home);
  try {
    const binaries = await findPostgresBinaries(account, onProgress);
    const clusterDir = clusterDirOf(home);
    const left = await findPostmaster(clusterDir);
    await endOrphan(left, stopSteps, { folder: clusterDir, isTakenOver: claim.isTakenOver });
    const password = await prepareCluster(home, binaries, account, durable);
    const logFile = options.logFile ?? join(home, 'postgres.log');
    const furtherSettings = options.furtherSettings ?? {};
    const launch = { clusterDir, binaries, account, durable, password, logFile, furtherSettings };
    const started = await startOnPort(launch, options.port);
    return await describe(started, home, claim);
  } catch (error) {
    await claim.release();
    throw error;
  }
}

/** Ends the server, if any, that a killed process left on the folder, so that its port is free again. */
export async function endLeftPostgresServer(dataDir: string): Promise<void> {
  const home = await realpath(dataDir).catch(() => undefined);
  if (home !== undefined) {
    const claim = await claimFolder(home);
    try {
      const folder = clusterDirOf(home);
      await endOrphan(await findPostmaster(folder), stopSteps, { folder, isTakenOver: claim.isTakenOver });
    } finally {
      await claim.release();
    }
  }
}

async function describe({ process, address }: Started, home: string, claim: FolderClaim): Promise<PostgresServer> {
  const server = holdClaim(process, claim);
  try {
    return {
      ...server,
      url: await ensureDatabase(address, postgresUser),
      port: address.port,
      home,
      createDatabase: (name) => ensureDatabase(address, name),
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

type Launch = {
  readonly clusterDir: string;
  readonly binaries: PostgresBinaries;
  readonly account: Account | undefined;
  readonly durable: boolean;
  readonly password: string;
  readonly logFile: string;
  readonly furtherSettings: Readonly<Record<string, string>>;
};

type Started = {
  readonly process: ServerProcess;
  readonly address: DatabaseAddress;
};

// Retries two temporary failures: another program took the free port first, or sessions of a killed server still hold
// its shared memory.
async function startOnPort(launch: Launch, wantedPort: number | undefined): Promise<Started> {
  const backendsGoneBy = performance.now() + backendsGoneDeadlineMs;
  for (let attempt = 1; ; attempt += 1) {
    const port = await choosePort(wantedPort, 'PostgreSQL');
    try {
      return await startOnce(launch, port);
    } catch (error) {
      const message = error instanceof Error ? error.message : '';
      const hasLostRace = message.includes('Address already in use') && attempt < startAttemptsMax;
      const hasOldBackends = message.includes('shared memory block') && performance.now() < backendsGoneBy;
      if (!hasLostRace && !hasOldBackends) {
        throw error;
      }
      await delay(retryMs);
    }
  }
}

async function startOnce(launch: Launch, port: number): Promise<Started> {
  const settings = Object.entries({
    ...postgresSettings({ port, durable: launch.durable }),
    ...launch.furtherSettings,
  });
  const process = await startServerProcess({
    label: 'PostgreSQL',
    command: launch.binaries.postgres,
    args: ['-D', launch.clusterDir, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    logFile: launch.logFile,
    stopSteps,
    env: { LC_ALL: 'C', TZ: 'UTC' },
    ...(launch.account === undefined ? {} : { account: launch.account }),
  });
  const address = { port, user: postgresUser, password: launch.password };
  // The pid file is read first, because a server that is still recovering logs every session that it refuses.
  const isReady = async (): Promise<boolean> =>
    (await isPostmasterReady(launch.clusterDir)) && (await isAccepting(address));
  await process.whenReady(isReady, readyDeadlineMs);
  return { process, address };
}
