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

/** A run's servers and processes with their folder. All of them are stopped, and the folder removed, at its end. */
export type Stage = {
  readonly folder: string;
  /** Environment of services in addition to a scenario's own. */
  readonly settings: Readonly<Record<string, string>>;
  /** Arguments of Node for every service. */
  readonly nodeArgs: readonly string[];
  readonly natsVersion: string;
  /** Names of the processes that were started so far. */
  readonly started: ReadonlySet<string>;
  /** An empty nats-server on a free port, every write synced by default. */
  startLog(options?: Partial<NatsServerOptions>): Promise<NatsServer>;
  /** Several empty nodes that form a cluster, every write of each synced. */
  startCluster(nodes: number): Promise<readonly NatsServer[]>;
  /** An empty database. The first one starts its server, which syncs every commit. */
  createDatabase(): Promise<string>;
  /** Process id of the databases' server. */
  postgresPid(): Promise<number>;
  startChild(options: ChildOptions): Promise<Child>;
  /** Runs `work` on a stage of its own, and stops everything it started there at its end. */
  scoped<Result>(work: (stage: Stage) => Promise<Result>): Promise<Result>;
};

export type OpenStage = { readonly stage: Stage; close(): Promise<void> };

export type StageOptions = {
  readonly settings: Readonly<Record<string, string>>;
  readonly nodeArgs?: readonly string[];
  /** The nats-server to start; by default found on this machine or downloaded. */
  findNats?(): Promise<Pick<NatsBinary, 'path' | 'version'>>;
  onProgress?(line: string): void;
};

/** Opens the stage of a run, after removing what killed runs left. */
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
    // Full logs of several rounds would fill a small disk. A scenario that restarts a server on a folder removes it
    // itself.
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
