import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';

import { startNatsCluster } from '../embedded/nats/nats-cluster.ts';
import { type NatsServer, type NatsServerOptions, startNatsServer } from '../embedded/nats/nats-server.ts';
import { databaseAddress, dropDatabase, dropRoles, ensureDatabase } from '../embedded/postgres/postgres-database.ts';
import { serviceRights } from '../postgres/roles/service-roles.ts';
import type { DatabaseService } from '../postgres/roles/service-roles.ts';
import { databaseRole, migrateWithRoles } from './as-database-role.ts';
import { asOperator, testUsersConfig } from './as-log-user.ts';
import { findOperators } from './find-operators.ts';
import { copyTemplate } from './migrated-template.ts';
import { natsFolderPrefix } from './run-folder.ts';
import { askServerService } from './server-service.ts';
import { installTwins } from './twin-rows.ts';

declare module 'vitest' {
  interface ProvidedContext {
    testRunFolder: string;
    testServerService: string;
  }
}

const services = Object.keys(serviceRights) as DatabaseService[];

/** A database of one test file's own. */
export type TestDatabase = {
  readonly url: string;
  /** Migrates it, and gives each service that has a role one of this database's own: the addresses they log in with. */
  migrateWithRoles(): Promise<Readonly<Record<DatabaseService, string>>>;
  /** Removes it and its roles, ending sessions that are still open. */
  drop(): Promise<void>;
};

/** The nats-server program of this run, for tests that start servers with options of their own. */
export function natsBinaryPath(): Promise<string> {
  return askServerService(inject('testServerService'), 'nats-binary-path');
}

/** A fresh temporary folder for a nats-server's data. Removed at the end of the run, and servers left on it are ended. */
export function createNatsFolder(): Promise<string> {
  return mkdtemp(join(inject('testRunFolder'), natsFolderPrefix));
}

/**
 * Starts a nats-server of the test's own, on free ports and an empty folder. `stop` removes that folder; a folder given
 * in the options (to start again on the same data after `kill`) is kept, and only there does the server sync as in
 * production unless the options say so: data that is not read again need not survive a power cut. The server has the users of a
 * deployment, and `url` the operator's login; `asLogUser` gives that of a service. With `furtherConfig` there are none.
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
 * Starts a JetStream cluster of the test's own, formed and ready for replicated streams. A node's `stop` keeps its
 * folder, so that it can be started again; the folders go at the end of the run.
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
 * Makes a database in the PostgreSQL server all test files of the run share: with tables and without rows, unless a test
 * migrates it itself. Its accounts have twins, see `installTwins`, unless a test measures what statements look at.
 */
export async function createTestDatabase({ hasTwins = true, isMigrated = true } = {}): Promise<TestDatabase> {
  const address = databaseAddress(await askServerService(inject('testServerService'), 'postgres-url'));
  const name = `test_${randomBytes(8).toString('hex')}`;
  const url =
    hasTwins && isMigrated
      ? await copyTemplate(address, await askServerService(inject('testServerService'), 'migrated-template'), name)
      : await ensureDatabase(address, name);
  if (hasTwins && !isMigrated) await installTwins(url);
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
