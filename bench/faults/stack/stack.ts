import { randomBytes } from 'node:crypto';
import { mkdtemp, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitRevision } from '../../../deploy/local/wait-ready.ts';
import { createRunFolder } from '../../../shared/testing/run-folder.ts';
import { migrateWithRoles } from '../../../shared/testing/as-database-role.ts';
import { createConfigSigner, newConfigSigningKey } from '../../../shared/contracts/config/signed-config.ts';
import { asLogUser } from '../../../shared/testing/as-log-user.ts';
import { createTestAuthority } from '../../../shared/testing/certificates.ts';
import type { Certificate } from '../../../shared/testing/certificates.ts';
import { clockFileVariable, namesFileVariable } from '../../machine/env.ts';
import { openControl } from '../../system/control-client.ts';
import type { ControlAccess } from '../../system/control-client.ts';
import { createStops } from '../../system/stops.ts';
import type { Stops } from '../../system/stops.ts';
import { waitUntil } from '../../machine/wait-until.ts';
import { compiledPath } from '../../../shared/runtime/compiled-path.ts';
import { startFaultDestination } from './destination.ts';
import type { FaultDestination } from './destination.ts';
import { createNetwork } from './network.ts';
import type { Network } from './network.ts';
import type { Part } from './part.ts';
import { stackName } from './stack-names.ts';
import { databaseFolder, findPorts, startDatabase, startLogNodes, startServicePart } from './stack-parts.ts';
import type { DatabasePart, LogNode, ServicePart } from './stack-parts.ts';
import { startDatabasePair } from './standby.ts';
import type { DatabasePair, StandbyPart } from './standby.ts';

/** The kind of stack that a fault requires. */
export type StackShape = {
  /** 1 or 3; with 3 nodes, every stream has three replicas. */
  readonly nodes: number;
  readonly pipelines: number;
  /** Number of gateways; several share one port. */
  readonly gateways: number;
  readonly env: Readonly<Record<string, string>>;
  /** Allows `setClocks` to shift the services' wall clock. */
  readonly hasMovableClocks: boolean;
  /** Adds relays between parts, which can be slowed down or cut (`network`). */
  readonly hasNetwork: boolean;
  /** Gives PostgreSQL a standby and an address that can point to either server; requires a network. */
  readonly hasStandby: boolean;
  /** Uses names for the log, the database and destinations, and allows `setNames` to disable the name server. */
  readonly hasNames: boolean;
  /** Uses TLS for the destination that the fault controls. */
  readonly hasCertificates: boolean;
};

/** Everything that an event passes through; each part keeps its ports and folders across restarts. */
export type FaultStack = {
  readonly folder: string;
  /** Address of the gateways. */
  readonly url: string;
  /** The source key that visitors send; a fault may replace it. */
  token: string;
  readonly control: ControlAccess;
  readonly gateways: readonly ServicePart[];
  readonly pipelines: readonly ServicePart[];
  readonly controlPlane: ServicePart;
  readonly log: readonly LogNode[];
  readonly postgres: DatabasePart;
  /** PostgreSQL's standby; throws if the shape has no standby. */
  readonly standby: StandbyPart;
  /** Directs new connections to the database to this server. */
  leadDatabaseTo(server: DatabasePart): void;
  /** The destination that is always healthy. */
  readonly steady: FaultDestination;
  /** The destination that the fault controls. */
  readonly troubled: FaultDestination;
  /** Shifts the wall clocks of all services by `offMs`. */
  setClocks(offMs: number): Promise<void>;
  /** Enables (`known`) or disables (`gone`) the name server for all services. */
  setNames(state: 'known' | 'gone'): Promise<void>;
  /** Network between services, log and database, and between the log's nodes; throws if the shape has no network. */
  readonly network: Network;
  /**
   * A trusted and an expired certificate for the destination that the fault controls; throws if the shape has no
   * certificates.
   */
  readonly certificates: Certificates;
  /** SECRETS_KEY of the control plane and the pipelines. */
  readonly secretsKey: string;
  /** Environment for a command that connects to the log and the database. */
  readonly commandEnv: Readonly<Record<string, string>>;
};

export type Certificates = { readonly good: Certificate; readonly expired: Certificate };

export type StackOptions = {
  readonly shape: StackShape;
  readonly natsPath: string;
  /** Called before anything is started in the folder; the returned function undoes the preparation at the end. */
  prepare?(folder: string): Promise<() => Promise<void>>;
  /** Folder of another built checkout whose services the stack starts with. */
  readonly checkout?: string | undefined;
  /** Keeps the folder with data and logs after the run. */
  readonly isKept: boolean;
  say(line: string): void;
};

type FaultService = 'gateway' | 'pipeline' | 'control-plane';
const logUserOf = { gateway: 'gateway', pipeline: 'pipeline', 'control-plane': 'controlPlane' } as const;

const readyDeadlineMs = 120_000;
const running = new Set<Stops>();

/** Ends every running stack; called when this process is asked to stop. */
export async function endStacks(): Promise<void> {
  await Promise.all([...running].map((stops) => stops.run()));
}

/** Starts a stack, runs `work` on it, and ends the stack even if the work fails. */
export async function withStack<Result>(
  options: StackOptions,
  work: (stack: FaultStack) => Promise<Result>,
): Promise<Result> {
  const stops = createStops();
  running.add(stops);
  try {
    return await work(await startStack(options, stops));
  } finally {
    await stops.run();
    running.delete(stops);
  }
}

// Large: starts the services of a fault in their order.
async function startStack(options: StackOptions, stops: Stops): Promise<FaultStack> {
  const { shape, natsPath, prepare, isKept, say, checkout } = options;
  const run = await createRunFolder();
  stops.add(() => (isKept ? keepFolder(run.path, say) : run.remove()));
  const { path: folder } = run;
  const network = shape.hasNetwork ? createNetwork() : undefined;
  stops.add(async () => network?.close());
  const tls = shape.hasCertificates ? await createCertificates(folder) : undefined;
  if (prepare !== undefined) stops.add(await prepare(folder));
  const keep = <Kept extends Part>(part: Kept): Kept => {
    stops.add(() => part.stop());
    return part;
  };
  const host = shape.hasNames ? { host: stackName('destination') } : {};
  const steady = await startFaultDestination('steady', host);
  stops.add(() => steady.close());
  // The certificate names an address, so TLS is used without the host name.
  const troubled = await startFaultDestination('troubled', tls === undefined ? host : { certificate: tls.good });
  stops.add(() => troubled.close());

  const [log, { primary: postgres, standby }] = await Promise.all([
    startLogNodes(folder, { nodes: shape.nodes, binaryPath: natsPath, network }, say).then((nodes) => nodes.map(keep)),
    startPostgres(folder, shape, say).then(({ primary, standby: second }) => ({
      primary: keep(primary),
      standby: second === undefined ? undefined : keep(second),
    })),
  ]);
  let leading: DatabasePart = postgres;
  await waitUntil('the log to be ready', readyDeadlineMs, () => unhealthyNode(log));

  const [gatewayPort = 0, controlPort = 0] = await findPorts(2);
  const clock = join(folder, 'clock');
  const names = join(folder, 'names');
  const preloaded = [
    ...(shape.hasMovableClocks ? ['./movable-clock.ts'] : []),
    ...(shape.hasNames ? ['./movable-names.ts'] : []),
  ];
  const nodeArgs = preloaded.flatMap((path) => ['--import', compiledPath(new URL(path, import.meta.url))]);
  const common = {
    NATS_MONITOR_URL: log.map(({ monitorUrl }) => monitorUrl).join(','),
    LOG_REPLICAS: String(shape.nodes),
    ...(tls === undefined ? {} : { NODE_EXTRA_CA_CERTS: tls.caFile }),
    [clockFileVariable]: clock,
    [namesFileVariable]: names,
    ...shape.env,
  };
  const secretsKey = randomBytes(32).toString('base64');
  // An older build has another schema, so its control plane migrates the database.
  const roles = checkout === undefined ? await migrateWithRoles(postgres.url) : undefined;
  const databaseOf = (service: FaultService): string =>
    (service === 'gateway' ? undefined : roles?.[logUserOf[service]]) ?? postgres.url;
  /** The log and database addresses of a service. Each service has its own relays, so that it can be cut off. */
  const addressesFor = async (
    name: string,
    service: FaultService,
  ): Promise<{ NATS_URL: string; DATABASE_URL: string }> => {
    const way = async (url: string, part: Part, port: () => number, host: string): Promise<string> => {
      const address = new URL(url);
      if (network !== undefined) address.port = String(await network.relay(name, part.name, port));
      if (shape.hasNames) address.hostname = host;
      return address.href;
    };
    const nodes = await Promise.all(log.map((node) => way(node.url, node, () => node.port, stackName('log'))));
    const database = await way(databaseOf(service), postgres, () => leading.port, stackName('database'));
    // Gateways of an earlier version read CONFIG, which this version's gateway user may not read, so they log in as
    // operator.
    const hasOldUsers = service === 'gateway' && checkout !== undefined;
    const urls = nodes.join(',');
    return { NATS_URL: hasOldUsers ? urls : asLogUser(urls, logUserOf[service]), DATABASE_URL: database };
  };
  const signing = { CONFIG_SIGNING_KEY: newConfigSigningKey() };
  // An earlier version does not sign configurations.
  const trusted = checkout === undefined ? { CONFIG_PUBLIC_KEYS: createConfigSigner(signing)?.publicKey ?? '' } : {};
  const local = { SECRETS_KEY: secretsKey, EGRESS_ALLOW: '127.0.0.0/8' };
  const credentials = join(folder, 'bootstrap.json');
  const start = async (name: string, service: FaultService, metricsVariable: string, env: Record<string, string>) => {
    const { NATS_URL, DATABASE_URL } = await addressesFor(name, service);
    const stored = service === 'gateway' ? {} : { DATABASE_URL, ...local };
    const keys = service === 'control-plane' ? signing : trusted;
    const all = { ...common, NATS_URL, ...stored, ...keys, ...env };
    return startServicePart(folder, { name, service, metricsVariable, env: all, nodeArgs, checkout }, say);
  };
  const numbered = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
  // Services start at the same time, as after a reboot.
  const [controlPlane, pipelines, gateways] = await Promise.all([
    start('control-plane', 'control-plane', 'CONTROL_PLANE_METRICS_PORT', {
      CONTROL_PLANE_PORT: String(controlPort),
      CONTROL_PLANE_HOST: '127.0.0.1',
      BOOTSTRAP_FILE: credentials,
      MIGRATE_ON_START: String(roles === undefined),
    }),
    Promise.all(
      numbered(shape.pipelines).map((number) => start(`pipeline-${number}`, 'pipeline', 'PIPELINE_METRICS_PORT', {})),
    ),
    Promise.all(
      numbered(shape.gateways).map((number) =>
        start(`gateway-${number}`, 'gateway', 'GATEWAY_METRICS_PORT', {
          GATEWAY_PORT: String(gatewayPort),
          GATEWAY_HOST: '127.0.0.1',
          GATEWAY_REUSE_PORT: String(shape.gateways > 1),
        }),
      ),
    ),
  ]);
  const services = [controlPlane, ...pipelines, ...gateways];
  // In parallel, because each service may take a while and the order does not matter here.
  stops.add(() => Promise.all(services.map((service) => service.stop())).then(() => undefined));
  await waitUntil('the services to be ready', readyDeadlineMs, () => unreadyService(services));

  const control = await openControl(`http://127.0.0.1:${controlPort}`, credentials);
  await createDestinations(control, [steady, troubled]);
  for (const { metricsUrl } of [...pipelines, ...gateways]) {
    await waitRevision(controlPlane.metricsUrl, metricsUrl, readyDeadlineMs);
  }
  const url = `http://127.0.0.1:${gatewayPort}`;
  return {
    folder,
    url,
    token: control.sourceToken,
    control,
    gateways,
    pipelines,
    controlPlane,
    log,
    postgres,
    steady,
    troubled,
    secretsKey,
    commandEnv: { ...common, NATS_URL: log.map(({ url: node }) => node).join(','), DATABASE_URL: postgres.url },
    get standby() {
      if (standby === undefined) throw new Error('PostgreSQL has no standby in the stack of this fault');
      return standby;
    },
    leadDatabaseTo(server) {
      leading = server;
    },
    get network() {
      if (network === undefined) throw new Error('the stack of this fault has no network');
      return network;
    },
    get certificates() {
      if (tls === undefined) throw new Error('the stack of this fault has no certificates');
      return tls;
    },
    setClocks: (offMs) => writeWhole(clock, String(offMs)),
    setNames: (state) => writeWhole(names, state),
  };
}

async function startPostgres(
  folder: string,
  { hasStandby }: StackShape,
  say: (line: string) => void,
): Promise<Pick<DatabasePair, 'primary'> & Partial<DatabasePair>> {
  return hasStandby ? startDatabasePair(folder, say) : { primary: await startDatabase(databaseFolder(folder), say) };
}

/** Replaces a file atomically, because a reader could mistake a partly written number for a complete one. */
async function writeWhole(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
}

async function createCertificates(folder: string): Promise<Certificates & { readonly caFile: string }> {
  const authority = await createTestAuthority();
  const caFile = join(folder, 'authority.pem');
  await writeFile(caFile, authority.ca);
  return { good: await authority.server(), expired: await authority.expiredServer(), caFile };
}

/** Moves a run's folder to a place from which the next run does not remove it. */
async function keepFolder(path: string, say: (line: string) => void): Promise<void> {
  const kept = `${await mkdtemp(join(tmpdir(), 'sluice-faults-'))}/stack`;
  await rename(path, kept);
  say(`data and logs: ${kept}`);
}

async function createDestinations(control: ControlAccess, destinations: readonly FaultDestination[]): Promise<void> {
  for (const { name, url } of destinations) {
    await control.call('POST', 'destinations', {
      name,
      type: 'HTTPDestination',
      settings: { httpDestinationUrl: url },
    });
  }
  await control.publish();
}

/** Processes of Sluice in the stack, whose memory is measured. */
export function servicesOf({ gateways, pipelines, controlPlane }: FaultStack): readonly ServicePart[] {
  return [...gateways, ...pipelines, controlPlane];
}

/** Name of a service that is not ready; undefined once all services are ready. */
export async function unreadyService(services: readonly ServicePart[]): Promise<string | undefined> {
  const ready = await Promise.all(services.map((service) => service.isReady()));
  return services.find((_, index) => ready[index] === false)?.name;
}

async function unhealthyNode(nodes: readonly LogNode[]): Promise<string | undefined> {
  for (const { name, monitorUrl } of nodes) {
    const isWell = await fetch(`${monitorUrl}/healthz`, { signal: AbortSignal.timeout(2_000) }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (!isWell) return name;
  }
  return undefined;
}
