import { randomBytes } from 'node:crypto';
import { findFreePort } from '../../shared/embedded/machine/free-port.ts';
import { serviceEnv } from './service-env.ts';
import type { Stage } from './stage.ts';
import { waitUntil } from '../machine/wait-until.ts';
import { compiledPath } from '../../shared/runtime/compiled-path.ts';
import type { Child } from './child.ts';
import type { GcAnswer, GcOrder, GcUse } from './gc-messages.ts';
import { readMetrics } from './metrics-page.ts';

export type Service = {
  readonly pid: number;
  /** URL of the service's API or, if it has no API, of its metrics. */
  readonly url: string;
  readonly metricsUrl: string;
  /** Measures the heap use of all threads; only one caller may use it at a time. */
  readonly gc: GcMeter;
  /** Rejects when the service ends by itself. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
};

/** Measures what a process allocates on its heaps, and the cost of its garbage collections. */
export type GcMeter = { begin(): void; end(): Promise<GcUse> };

type Env = Readonly<Record<string, string>>;
export type ServiceOptions = { readonly env?: Env; readonly nodeArgs?: readonly string[] };

const readyDeadlineMs = 120_000;
const gcProbe = compiledPath(new URL('./gc-probe.ts', import.meta.url));
/** Shared by all services of a run, as in production. */
export const secretsKey = randomBytes(32).toString('base64');

/** Starts the real gateway and waits until it is ready. Given the `port` of another gateway, both share that port. */
export async function startGateway(
  stage: Stage,
  natsUrl: string,
  options: ServiceOptions & { readonly port?: number } = {},
): Promise<Service & { readonly port: number }> {
  const port = options.port ?? (await findFreePort());
  const service = await start(stage, 'gateway', natsUrl, options, (metricsPort) => ({
    GATEWAY_PORT: String(port),
    GATEWAY_HOST: '127.0.0.1',
    GATEWAY_METRICS_PORT: metricsPort,
  }));
  return { ...service, port, url: `http://127.0.0.1:${port}` };
}

/** Starts the real pipeline on a migrated database, and waits until it is ready. */
export function startPipeline(
  stage: Stage,
  natsUrl: string,
  databaseUrl: string,
  options: ServiceOptions = {},
): Promise<Service> {
  return start(stage, 'pipeline', natsUrl, options, (metricsPort) => ({
    DATABASE_URL: databaseUrl,
    SECRETS_KEY: secretsKey,
    PIPELINE_METRICS_PORT: metricsPort,
    EGRESS_ALLOW: '127.0.0.0/8',
  }));
}

/** Starts the real control plane, which migrates its database, and waits until it is ready. */
export async function startControlPlane(
  stage: Stage,
  natsUrl: string,
  databaseUrl: string,
  options: ServiceOptions = {},
): Promise<Service> {
  const port = await findFreePort();
  const service = await start(stage, 'control-plane', natsUrl, options, (metricsPort) => ({
    DATABASE_URL: databaseUrl,
    SECRETS_KEY: secretsKey,
    CONTROL_PLANE_PORT: String(port),
    CONTROL_PLANE_HOST: '127.0.0.1',
    CONTROL_PLANE_METRICS_PORT: metricsPort,
  }));
  return { ...service, url: `http://127.0.0.1:${port}` };
}

async function start(
  stage: Stage,
  name: string,
  natsUrl: string,
  { env, nodeArgs = [] }: ServiceOptions,
  own: (metricsPort: string) => Env,
): Promise<Service> {
  const metricsPort = await findFreePort();
  const child = await stage.startChild({
    name,
    entry: `${name}/main`,
    nodeArgs: ['--import', gcProbe, ...stage.nodeArgs, ...nodeArgs],
    env: serviceEnv({ NATS_URL: natsUrl, ...own(String(metricsPort)), ...env }, stage.settings),
  });
  const metricsUrl = `http://127.0.0.1:${metricsPort}`;
  const ready = waitUntil(`${name} to be ready`, readyDeadlineMs, () => notReadyReason(metricsUrl));
  await Promise.race([ready, child.failed]);
  const gc = meterGc(child);
  return { pid: child.pid, gc, url: metricsUrl, metricsUrl, failed: child.failed, stop: () => child.stop() };
}

function meterGc(child: Child): GcMeter {
  const ask = (order: GcOrder['ask']): void => child.send({ kind: 'gc', ask: order } satisfies GcOrder);
  return {
    begin: () => ask('begin'),
    async end() {
      // A service sends its parent no messages other than this answer.
      const answer = child.nextMessage();
      ask('end');
      return ((await answer) as GcAnswer).use;
    },
  };
}

function notReadyReason(metricsUrl: string): Promise<string | undefined> {
  return fetch(`${metricsUrl}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
    async (answer) => (answer.ok ? undefined : answer.text()),
    () => 'no answer',
  );
}

/**
 * Runs `work` while a process is stopped. The work may be filling a log, for example: the reader of the log already has
 * its connections and consumers, so it begins to read immediately afterwards.
 */
export async function whilePaused(pid: number, work: () => Promise<void>): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  try {
    await work();
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

/** Throws if resolvers rejected events: these are never delivered, so a rate that includes them is worthless. */
export async function assertNoneRefused(pipeline: Service): Promise<void> {
  const refused = (await readMetrics(pipeline.metricsUrl)).sum('sluice_resolver_dead_letters_total');
  if (refused > 0) throw new Error(`the resolvers rejected ${refused} events: see the pipeline's log`);
}
