import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findNatsServer, defaultEmbeddedCacheDir } from '../../shared/embedded/nats/nats-binary.ts';
import type { NatsBinary } from '../../shared/embedded/nats/nats-binary.ts';
import { startNatsCluster } from '../../shared/embedded/nats/nats-cluster.ts';
import { startNatsServer } from '../../shared/embedded/nats/nats-server.ts';
import type { NatsServer, NatsServerOptions } from '../../shared/embedded/nats/nats-server.ts';
import { startPostgresServer } from '../../shared/embedded/postgres/postgres-server.ts';
import type { PostgresServer } from '../../shared/embedded/postgres/postgres-server.ts';
import { createRunFolder, removeLeftRunFolders } from '../../shared/testing/run-folder.ts';
import { startChild } from './child.ts';
import type { Child, ChildOptions } from './child.ts';
import { createStops } from './stops.ts';
import type { Stops } from './stops.ts';

/** Servers, processes and folder of a run; at its end all are stopped, and the folder is removed. */
export type Stage = {
  readonly folder: string;
  /** Environment variables of services in addition to a scenario's own. */
  readonly settings: Readonly<Record<string, string>>;
  /** Command-line arguments of Node for every service. */
  readonly nodeArgs: readonly string[];
  readonly natsVersion: string;
  /** Names of the processes started so far. */
  readonly started: ReadonlySet<string>;
  /** Starts an empty nats-server on a free port; by default it syncs every write. */
  startLog(options?: Partial<NatsServerOptions>): Promise<NatsServer>;
  /** Starts a cluster of empty nodes, each of which syncs every write. */
  startCluster(nodes: number): Promise<readonly NatsServer[]>;
  /** Creates an empty database. The first call starts the server, which syncs every commit. */
  createDatabase(): Promise<string>;
  /** Process id of the PostgreSQL server. */
  postgresPid(): Promise<number>;
  startChild(options: ChildOptions): Promise<Child>;
  /** Runs `work` on a separate stage, and afterwards stops everything that was started on that stage. */
  scoped<Result>(work: (stage: Stage) => Promise<Result>): Promise<Result>;
};

export type OpenStage = { readonly stage: Stage; close(): Promise<void> };

export type StageOptions = {
  readonly settings: Readonly<Record<string, string>>;
  readonly nodeArgs?: readonly string[];
  /** Finds the nats-server to start; by default on this machine or as a download. */
  findNats?(): Promise<Pick<NatsBinary, 'path' | 'version'>>;
  onProgress?(line: string): void;
};

/** Opens the stage of a run, after removing the folders that killed runs have left. */
export async function openStage({ settings, nodeArgs = [], findNats, onProgress }: StageOptions): Promise<OpenStage> {
  await removeLeftRunFolders();
  const stops = createStops();
  const run = await createRunFolder();
  stops.add(() => run.remove());
  try {
    const cacheDir = defaultEmbeddedCacheDir();
    const nats = await (findNats?.() ?? findNatsServer({ cacheDir, onProgress: onProgress ?? (() => undefined) }));
    const postgres = createLazyPostgres(run.path, stops);
    const shared: Shared = { folder: run.path, settings, nodeArgs, nats, postgres, started: new Set() };
    return { stage: createStage(shared, stops), close: () => stops.run() };
  } catch (error) {
    await stops.run();
    throw error;
  }
}

type Shared = {
  readonly folder: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly nodeArgs: readonly string[];
  readonly nats: Pick<NatsBinary, 'path' | 'version'>;
  readonly postgres: () => Promise<PostgresServer>;
  readonly started: Set<string>;
};

function createLazyPostgres(folder: string, stops: Stops): () => Promise<PostgresServer> {
  let server: Promise<PostgresServer> | undefined;
  return () => {
    if (server === undefined) {
      const starting = startPostgresServer({ dataDir: join(folder, 'postgres') });
      stops.add(async () => (await starting).stop());
      server = starting;
    }
    return server;
  };
}

function endWith(stops: Stops, server: NatsServer, isOwnFolder: boolean): NatsServer {
  const stop = stops.add(async () => {
    await server.stop();
    // The logs of several rounds would fill a small disk. A scenario that restarts a server on a given folder removes
    // that folder itself.
    if (isOwnFolder) await rm(server.storeDir, { recursive: true, force: true });
  });
  return { ...server, stop };
}

let databases = 0;

function createStage(shared: Shared, stops: Stops): Stage {
  const { folder, settings, nodeArgs, nats } = shared;
  return {
    folder,
    settings,
    nodeArgs,
    natsVersion: nats.version,
    started: shared.started,
    async startLog(options = {}) {
      const storeDir = await mkdtemp(join(folder, 'nats-'));
      const server = await startNatsServer({ binaryPath: nats.path, storeDir, ...options });
      return endWith(stops, server, options.storeDir === undefined);
    },
    async startCluster(nodes) {
      const storeDirs = await Promise.all(Array.from({ length: nodes }, () => mkdtemp(join(folder, 'nats-'))));
      const options = storeDirs.map((storeDir) => ({ binaryPath: nats.path, storeDir }));
      return (await startNatsCluster('bench', options)).map((server) => endWith(stops, server, true));
    },
    async createDatabase() {
      databases += 1;
      return (await shared.postgres()).createDatabase(`bench_${databases}`);
    },
    async postgresPid() {
      return (await shared.postgres()).pid;
    },
    async startChild(options) {
      shared.started.add(options.name);
      const child = await startChild(folder, options);
      return { ...child, stop: stops.add(() => child.stop()) };
    },
    async scoped(work) {
      const inner = createStops();
      const end = stops.add(() => inner.run());
      try {
        return await work(createStage(shared, inner));
      } finally {
        await end();
      }
    },
  };
}
