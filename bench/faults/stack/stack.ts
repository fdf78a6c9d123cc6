import { randomBytes } from 'node:crypto';
import { mkdtemp, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitRevision } from '../../../deploy/local/wait-ready.ts';
import { createRunFolder } from '../../../shared/testing/run-folder.ts';
import { clockFileVariable } from '../../machine/env.ts';
import { openControl } from '../../system/control-client.ts';
import type { ControlAccess } from '../../system/control-client.ts';
import { createStops } from '../../system/stops.ts';
import type { Stops } from '../../system/stops.ts';
import { waitUntil } from '../../machine/wait-until.ts';
import { compiledPath } from '../../../shared/runtime/compiled-path.ts';
import { startFaultDestination } from './destination.ts';
import type { FaultDestination } from './destination.ts';
import type { Part } from './part.ts';
import { findPorts, startDatabase, startLogNodes, startServicePart } from './stack-parts.ts';
import type { DatabasePart, LogNode, ServicePart } from './stack-parts.ts';

/** How a fault wants its stack. */
export type StackShape = {
  /** 1, or 3: then every stream has three replicas. */
  readonly nodes: number;
  readonly pipelines: number;
  /** Several share one port. */
  readonly gateways: number;
  readonly env: Readonly<Record<string, string>>;
  /** Lets the wall clock of the services be set with `setClocks`. */
  readonly hasMovableClocks: boolean;
};

/** Everything an event passes, each part kept running on ports and folders of its own. */
export type FaultStack = {
  readonly folder: string;
  /** Of the gateways. */
  readonly url: string;
  readonly token: string;
  readonly gateways: readonly ServicePart[];
  readonly pipelines: readonly ServicePart[];
  readonly controlPlane: ServicePart;
  readonly log: readonly LogNode[];
  readonly postgres: DatabasePart;
  /** Always well. */
  readonly steady: FaultDestination;
  /** Does what the fault wants of it. */
  readonly troubled: FaultDestination;
  /** Sets the wall clock of every service off by so many ms. */
  setClocks(offMs: number): Promise<void>;
};

export type StackOptions = {
  readonly shape: StackShape;
  readonly natsPath: string;
  /** Before anything is started on the folder; what it returns undoes it at the end. */
  prepare?(folder: string): Promise<() => Promise<void>>;
  /** Leaves the folder, with data and logs, where it is. */
  readonly isKept: boolean;
  say(line: string): void;
};

const readyDeadlineMs = 120_000;
/** Of stacks that were started and have not ended. */
const running = new Set<Stops>();

/** Ends every stack there is, for a process that is told to end. */
export async function endStacks(): Promise<void> {
  await Promise.all([...running].map((stops) => stops.run()));
}

/** Starts a stack, runs `work` on it, and ends it whatever happens. */
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

async function startStack({ shape, natsPath, prepare, isKept, say }: StackOptions, stops: Stops): Promise<FaultStack> {
  const run = await createRunFolder();
  stops.add(() => (isKept ? keepFolder(run.path, say) : run.remove()));
  const { path: folder } = run;
  if (prepare !== undefined) stops.add(await prepare(folder));
  const keep = <Kept extends Part>(part: Kept): Kept => {
    stops.add(() => part.stop());
    return part;
  };
  const steady = await startFaultDestination('steady');
  stops.add(() => steady.close());
  const troubled = await startFaultDestination('troubled');
  stops.add(() => troubled.close());

  const [log, postgres] = await Promise.all([
    startLogNodes(folder, shape.nodes, natsPath, say).then((nodes) => nodes.map(keep)),
    startDatabase(folder, say).then(keep),
  ]);
  await waitUntil('the log to be ready', readyDeadlineMs, () => unhealthyNode(log));

  const [gatewayPort = 0, controlPort = 0] = await findPorts(2);
  const clock = join(folder, 'clock');
  const nodeArgs = shape.hasMovableClocks
    ? ['--import', compiledPath(new URL('./movable-clock.ts', import.meta.url))]
    : [];
  const common = {
    NATS_URL: log.map(({ url }) => url).join(','),
    NATS_MONITOR_URL: log.map(({ monitorUrl }) => monitorUrl).join(','),
    LOG_REPLICAS: String(shape.nodes),
    [clockFileVariable]: clock,
    ...shape.env,
  };
  const stored = { ...common, DATABASE_URL: postgres.url, SECRETS_KEY: randomBytes(32).toString('base64') };
  const local = { EGRESS_ALLOW: '127.0.0.0/8' };
  const credentials = join(folder, 'bootstrap.json');
  const start = (name: string, service: string, metricsVariable: string, env: Record<string, string>) =>
    startServicePart(folder, { name, service, metricsVariable, env, nodeArgs }, say);
  const numbered = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
  // All at once, as a machine that comes up would.
  const [controlPlane, pipelines, gateways] = await Promise.all([
    start('control-plane', 'control-plane', 'CONTROL_PLANE_METRICS_PORT', {
      ...stored,
      ...local,
      CONTROL_PLANE_PORT: String(controlPort),
      CONTROL_PLANE_HOST: '127.0.0.1',
      BOOTSTRAP_FILE: credentials,
    }),
    Promise.all(
      numbered(shape.pipelines).map((number) =>
        start(`pipeline-${number}`, 'pipeline', 'PIPELINE_METRICS_PORT', { ...stored, ...local }),
      ),
    ),
    Promise.all(
      numbered(shape.gateways).map((number) =>
        start(`gateway-${number}`, 'gateway', 'GATEWAY_METRICS_PORT', {
          ...common,
          GATEWAY_PORT: String(gatewayPort),
          GATEWAY_HOST: '127.0.0.1',
          GATEWAY_REUSE_PORT: String(shape.gateways > 1),
        }),
      ),
    ),
  ]);
  const services = [controlPlane, ...pipelines, ...gateways];
  // Together: each may take its time, and an order between them would show nothing here.
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
    gateways,
    pipelines,
    controlPlane,
    log,
    postgres,
    steady,
    troubled,
    async setClocks(offMs) {
      // In one step: half a number would be another one.
      await writeFile(`${clock}.new`, String(offMs));
      await rename(`${clock}.new`, clock);
    },
  };
}

/** Under another name: the next run removes folders of runs that are over. */
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

/** What is ours of the stack: processes whose memory counts. */
export function servicesOf({ gateways, pipelines, controlPlane }: FaultStack): readonly ServicePart[] {
  return [...gateways, ...pipelines, controlPlane];
}

/** Undefined once each of them says that it is ready. */
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
