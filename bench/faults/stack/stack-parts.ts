import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { restartWhenRoom } from '../../../deploy/local/restart-when-room.ts';
import { findFreePort } from '../../../shared/embedded/machine/free-port.ts';
import { startNatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import type { NatsClusterConfig } from '../../../shared/embedded/nats/nats-config.ts';
import { asOperator, testUsersConfig } from '../../../shared/testing/as-log-user.ts';
import { startPostgresServer } from '../../../shared/embedded/postgres/postgres-server.ts';
import { startChild } from '../../system/child.ts';
import type { Network } from './network.ts';
import { startPart } from './part.ts';
import type { Part } from './part.ts';

type Env = Readonly<Record<string, string>>;
type Say = (line: string) => void;

export type LogNode = Part & {
  readonly serverName: string;
  readonly port: number;
  /** Includes the operator's login. */
  readonly url: string;
  readonly monitorUrl: string;
  readonly storeDir: string;
};

/** A service of Sluice, with its metrics page. */
export type ServicePart = Part & {
  readonly metricsUrl: string;
  /** Port on which the inspector listens once SIGUSR1 has opened it. */
  readonly inspectPort: number;
  /** Whether the service reports that it is ready. */
  isReady(): Promise<boolean>;
  /** Changes how the service is run from its next start. */
  runAs(change: ServiceRun): void;
};

/** How a service is run, in addition to the settings of the stack. */
export type ServiceRun = {
  /** Settings added to the stack's own. */
  readonly env?: Env;
  /** Folder of a built checkout whose code runs; undefined for this checkout. */
  readonly checkout?: string | undefined;
};

export type DatabasePart = Part & { readonly url: string; readonly port: number };

const clusterName = 'faults';
const askMs = 1_000;

/** Folder of a node's data and configuration; nodes count from 0. */
export const storeDirOf = (folder: string, index: number): string => join(folder, `nats-${index + 1}`);

/** Folder of nats-server's streams in `storeDir`, where a separate file system may be mounted before the start. */
export const streamsFolder = (storeDir: string): string => join(storeDir, 'jetstream');

export type LogOptions = {
  readonly nodes: number;
  readonly binaryPath: string;
  /** If given, routes between nodes go through this network, and nodes announce no other address. */
  readonly network: Network | undefined;
};

/** Starts one node, or several as a cluster, each with a permanent folder and ports. */
export async function startLogNodes(folder: string, options: LogOptions, say: Say): Promise<LogNode[]> {
  const { nodes, binaryPath, network } = options;
  const ports = await findPorts(nodes * 3);
  const routes = ports.slice(nodes * 2);
  const furtherConfig = testUsersConfig();
  return Promise.all(
    Array.from({ length: nodes }, async (_, index): Promise<LogNode> => {
      const [port = 0, monitorPort = 0] = [ports[index], ports[nodes + index]];
      const storeDir = storeDirOf(folder, index);
      const serverName = `${clusterName}-${index + 1}`;
      const name = nodeName(nodes, index);
      const cluster = nodes === 1 ? {} : { cluster: await clusterOptions(index, routes, network) };
      const part = await startPart({
        name,
        say,
        start: () =>
          startNatsServer({ binaryPath, storeDir, port, monitorPort, serverName, furtherConfig, ...cluster }),
      });
      const addresses = { url: asOperator(`nats://127.0.0.1:${port}`), monitorUrl: `http://127.0.0.1:${monitorPort}` };
      // The launcher and the systemd units also restart a node once its disk has room.
      const healing = restartWhenRoom({
        current: () => ({ ...addresses, kill: () => Promise.resolve(part.signal('SIGKILL')) }),
        storeDir: streamsFolder(storeDir),
        say,
      });
      const stop = (): Promise<void> => {
        healing.stop();
        return part.stop();
      };
      return extend(part, { ...addresses, port, serverName, storeDir, stop });
    }),
  );
}

const nodeName = (nodes: number, index: number): string => (nodes === 1 ? 'nats-server' : `nats-server ${index + 1}`);

/** An announced address without a listener, so that nodes keep to the configured routes. */
const nowhere = '127.0.0.1:1';

async function clusterOptions(
  index: number,
  routes: readonly number[],
  network: Network | undefined,
): Promise<NatsClusterConfig> {
  const cluster = { name: clusterName, port: routes[index] ?? 0, routes, password: 'password-of-nodes' };
  if (network === undefined) return cluster;
  const others = routes.flatMap((port, other) => (other === index ? [] : [{ port, other }]));
  const nameOf = (which: number): string => nodeName(routes.length, which);
  const ways = await Promise.all(others.map(({ port, other }) => network.relay(nameOf(index), nameOf(other), port)));
  return { ...cluster, routes: ways, advertise: nowhere };
}

/** Name of the only PostgreSQL server, or of the first of two. */
export const databaseName = 'PostgreSQL';

/** Folder of PostgreSQL's data; a standby has its own folder next to it. */
export const databaseFolder = (folder: string): string => join(folder, 'postgres');

export async function startDatabase(
  dataDir: string,
  say: Say,
  { name = databaseName }: { readonly name?: string } = {},
): Promise<DatabasePart> {
  let [url, port] = ['', 0];
  const part = await startPart({
    name,
    say,
    // The first start takes any free port; later starts take the same one.
    start: async () => {
      const server = await startPostgresServer({ dataDir, port });
      ({ url, port } = server);
      return server;
    },
  });
  return extend(part, { url, port });
}

export type ServiceOptions = {
  readonly name: string;
  /** Folder of the service in a checkout, such as `gateway`. */
  readonly service: string;
  readonly metricsVariable: string;
  readonly env: Env;
  readonly nodeArgs: readonly string[];
  /** Folder of the checkout whose code runs until `runAs` changes it; undefined for this checkout. */
  readonly checkout: string | undefined;
};

/** Starts a service with default settings; resolves once the process exists, before it is ready. */
export async function startServicePart(
  folder: string,
  { name, service, metricsVariable, env, nodeArgs, checkout }: ServiceOptions,
  say: Say,
): Promise<ServicePart> {
  const [metricsPort = 0, inspectPort = 0] = await findPorts(2);
  const logs = logsFolder(folder);
  await mkdir(logs, { recursive: true });
  let run: ServiceRun = { checkout };
  const part = await startPart({
    name,
    say,
    start: () =>
      startChild(logs, {
        name,
        entry: `${service}/main`,
        env: { ...env, [metricsVariable]: String(metricsPort), INSTANCE_ID: name, ...run.env },
        ...(run.checkout === undefined ? {} : { checkout: run.checkout }),
        nodeArgs: [`--inspect-port=127.0.0.1:${inspectPort}`, ...nodeArgs],
      }),
  });
  const metricsUrl = `http://127.0.0.1:${metricsPort}`;
  return extend(part, {
    metricsUrl,
    inspectPort,
    runAs(change: ServiceRun) {
      run = { ...run, ...change };
    },
    isReady: () =>
      fetch(`${metricsUrl}/readyz`, { signal: AbortSignal.timeout(askMs) }).then(
        ({ ok }) => ok,
        () => false,
      ),
  });
}

/** Folder of the services' output, with a file for each process. */
export const logsFolder = (folder: string): string => join(folder, 'logs');

/** Extends a part without evaluating its getters. */
export function extend<Base extends Part, Own extends object>(part: Base, own: Own): Base & Own {
  const described = { ...Object.getOwnPropertyDescriptors(part), ...Object.getOwnPropertyDescriptors(own) };
  return Object.defineProperties(own, described) as Base & Own;
}

/** Finds free ports, each different from the others. */
export async function findPorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await findFreePort());
  return [...ports];
}
