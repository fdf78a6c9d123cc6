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
  /** Of the database `sluice`, with its password. */
  readonly url: string;
  readonly port: number;
  /** Where the data really are: `dataDir`, or the folder that `dataDir` is a link to. */
  readonly home: string;
  /** Makes the database unless it exists, and returns its url. */
  createDatabase(name: string): Promise<string>;
};

export type PostgresServerOptions = {
  /** Holds the data, the password and the log. Kept by `stop`. */
  readonly dataDir: string;
  /** 0 or omitted: a free one. A given one that is busy is an error. */
  readonly port?: number;
  /** Default `postgres.log` beside the data. */
  readonly logFile?: string;
  /** False is for tests: fast, and a power cut (not a kill) may ruin the data. Default true. */
  readonly durable?: boolean;
  /** Settings beside those made here: certificates, who may connect and how. The url's user must stay welcome. */
  readonly furtherSettings?: Readonly<Record<string, string>>;
  /** Called with one line if data or programs had to be put elsewhere. */
  readonly onProgress?: (line: string) => void;
};

const readyDeadlineMs = 120_000;
const startAttemptsMax = 3;
const backendsGoneDeadlineMs = 15_000;
const retryMs = 100;
// Fast, then immediate shutdown. The immediate one costs a recovery at the next start, and no data.
const stopSteps: readonly EndStep[] = [
  { signal: 'SIGINT', waitMs: 15_000 },
  { signal: 'SIGQUIT', waitMs: 5_000 },
];

/** Starts PostgreSQL on a folder, made on the first start. Ends an orphan of a killed run on that folder first. */
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

/** Ends a server that a killed process left on the folder, so that its port is free again. Does nothing if there is none. */
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

// Two failures pass by themselves: a port found free is taken before the server listens on it, and the sessions of a
// server that was killed take a moment to notice and let go of its shared memory.
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
  // The file is asked first because a server that is still recovering logs every session it has to refuse.
  const isReady = async (): Promise<boolean> =>
    (await isPostmasterReady(launch.clusterDir)) && (await isAccepting(address));
  await process.whenReady(isReady, readyDeadlineMs);
  return { process, address };
}
