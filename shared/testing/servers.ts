import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';

import { startNatsCluster } from '../embedded/nats/nats-cluster.ts';
import { type NatsServer, type NatsServerOptions, startNatsServer } from '../embedded/nats/nats-server.ts';
import { type PostgresServer, startPostgresServer } from '../embedded/postgres/postgres-server.ts';
import { databaseAddress, dropDatabase, dropRoles, ensureDatabase } from '../embedded/postgres/postgres-database.ts';
import { serviceRights } from '../postgres/roles/service-roles.ts';
import type { DatabaseService } from '../postgres/roles/service-roles.ts';
import { databaseRole, migrateWithRoles } from './as-database-role.ts';
import { asOperator, testUsersConfig } from './as-log-user.ts';
import { findOperators } from './find-operators.ts';
import { copyTemplate } from './migrated-template.ts';
import { natsFolderPrefix, postgresFolder } from './run-folder.ts';
import { askServerService } from './server-service.ts';
import { installTwins } from './twin-rows.ts';

declare module 'vitest' {
  interface ProvidedContext {
    testRunFolder: string;
    testServerService: string;
  }
}

const services = Object.keys(serviceRights) as DatabaseService[];

/** A database for one test file. */
export type TestDatabase = {
  readonly url: string;
  /** Migrates the database and creates the services' roles for it. Returns the address with which each logs in. */
  migrateWithRoles(): Promise<Readonly<Record<DatabaseService, string>>>;
  /** Removes the database and its roles, and ends sessions that are still open. */
  drop(): Promise<void>;
};

/** The nats-server program of this run, for tests that start servers with options of their own. */
export function natsBinaryPath(): Promise<string> {
  return askServerService(inject('testServerService'), 'nats-binary-path');
}

/** A new temporary folder for a nats-server's data. The end of the run removes it and ends servers left on it. */
export function createNatsFolder(): Promise<string> {
  return mkdtemp(join(inject('testRunFolder'), natsFolderPrefix));
}

/**
 * Starts a nats-server for a test, on free ports and an empty folder. `stop` removes that folder, but keeps a folder
 * given in the options (to start again on the same data after `kill`). By default the server syncs every write, as in
 * production, only if the options give a folder: other data is never read again. The server has the users of a
 * deployment, and `url` contains the operator's login, which `asLogUser` replaces with a service's login.
 * `furtherConfig` replaces these users.
 */
export async function startTestNats(options: Partial<NatsServerOptions> = {}): Promise<NatsServer> {
  const binaryPath = options.binaryPath ?? (await natsBinaryPath());
  const storeDir = options.storeDir ?? (await createNatsFolder());
  const syncAlways = options.syncAlways ?? options.storeDir !== undefined;
  const furtherConfig = options.furtherConfig ?? testUsersConfig();
  const server = await startNatsServer({ ...options, binaryPath, storeDir, syncAlways, furtherConfig });
  return {
    ...server,
    url: options.furtherConfig === undefined ? asOperator(server.url) : server.url,
    stop: async () => {
      const operators = options.furtherConfig === undefined ? await findOperators(server.monitorUrl) : [];
      await server.stop();
      if (options.storeDir === undefined) {
        await rm(storeDir, { recursive: true, force: true });
      }
      if (operators.length > 0)
        throw new Error(`services logged in as operator, see asLogUser: ${operators.join(', ')}`);
    },
  };
}

/**
 * Starts a JetStream cluster for a test, formed and ready for replicated streams. A node's `stop` keeps its folder, so
 * that the node can be started again; the folders are removed at the end of the run.
 */
export async function startTestNatsCluster(nodeCount = 3): Promise<NatsServer[]> {
  const binaryPath = await natsBinaryPath();
  const storeDirs = await Promise.all(Array.from({ length: nodeCount }, () => createNatsFolder()));
  const furtherConfig = testUsersConfig();
  const nodes = await startNatsCluster(
    'test',
    storeDirs.map((storeDir) => ({ binaryPath, storeDir, furtherConfig })),
  );
  return nodes.map((node) => ({ ...node, url: asOperator(node.url) }));
}

/**
 * Starts a PostgreSQL server for one test file; the end of the run removes its data. Needed if a test's result depends
 * on all transactions of the server: on the shared server other test files have transactions too.
 */
export function startTestPostgres(): Promise<PostgresServer> {
  const folder = `${postgresFolder}-${randomBytes(4).toString('hex')}`;
  return startPostgresServer({ dataDir: join(inject('testRunFolder'), folder), durable: false });
}

export type TestDatabaseOptions = {
  /** Whether its accounts have twins, see `installTwins`. Default true; false for tests that count the rows read. */
  readonly hasTwins?: boolean;
  /**
   * Whether the database has the tables, without rows; otherwise it is empty. Default true, but false without twins or
   * with `serverUrl`.
   */
  readonly isMigrated?: boolean;
  /** The server, see `startTestPostgres`. Default: the one that all test files of the run share. */
  readonly serverUrl?: string | undefined;
};

export async function createTestDatabase({
  hasTwins = true,
  isMigrated = true,
  serverUrl,
}: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const address = databaseAddress(serverUrl ?? (await askServerService(inject('testServerService'), 'postgres-url')));
  const name = `test_${randomBytes(8).toString('hex')}`;
  const hasTemplate = hasTwins && isMigrated && serverUrl === undefined;
  const url = hasTemplate
    ? await copyTemplate(address, await askServerService(inject('testServerService'), 'migrated-template'), name)
    : await ensureDatabase(address, name);
  if (hasTwins && !hasTemplate) await installTwins(url);
  return {
    url,
    migrateWithRoles: () => migrateWithRoles(url),
    async drop() {
      await dropDatabase(address, name);
      await dropRoles(
        address,
        services.map((service) => databaseRole(name, service)),
      );
    },
  };
}
