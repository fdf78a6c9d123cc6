import { processFamilyCpuMs } from '../machine/process-use.ts';
import type { Sink } from '../sink/sink.ts';
import { startSink } from '../sink/sink.ts';
import type { ControlClient } from '../system/control-client.ts';
import { startControlClient } from '../system/control-client.ts';
import { readMetrics } from '../system/metrics-page.ts';
import type { Service } from '../system/services.ts';
import { startGateway, startPipeline } from '../system/services.ts';
import type { Stage } from '../system/stage.ts';
import { waitUntil } from '../machine/wait-until.ts';
import type { WholePath } from './whole-path.ts';
import { cpuMsOf, startLog } from './whole-path.ts';

/** The processes that `npm start` starts: the path of an event, and the control plane with an account. */
export type WholeStack = Omit<WholePath, 'accountId' | 'pipelineStartMs'> & {
  readonly control: ControlClient;
  /** Group of the sink in which deliveries to the account's only destination count. */
  readonly group: string;
};

/** Group of the sink for the destination that a control plane creates at its first start. */
const demoGroup = 'demo';
const liveDeadlineMs = 60_000;

/** Starts the whole stack on empty stores, and waits until the account's configuration is live in every process. */
export async function startWholeStack(stage: Stage, given?: Sink): Promise<WholeStack> {
  const sink = given ?? (await startSink(stage));
  const log = await startLog(stage, {});
  const databaseUrl = await stage.createDatabase();
  const control = await startControlClient(stage, log.url, databaseUrl, {
    BOOTSTRAP_SINK_URL: new URL(sink.urlOf('')).origin,
  });
  const gateway = await startGateway(stage, log.url, { env: { CONTROL_PLANE_URL: control.service.url } });
  const pipeline = await startPipeline(stage, log.url, databaseUrl);
  for (const service of [gateway, pipeline]) await waitLive(control.service, service);
  return {
    natsUrl: log.url,
    natsPids: log.pids,
    natsMonitorUrls: log.monitorUrls,
    databaseUrl,
    postgresPid: await stage.postgresPid(),
    token: control.sourceToken,
    gateway,
    pipeline,
    sink,
    control,
    group: demoGroup,
  };
}

async function waitLive(controlPlane: Service, service: Service): Promise<void> {
  const revisionOf = async ({ metricsUrl }: Service): Promise<number> =>
    (await readMetrics(metricsUrl)).sum('sluice_config_revision');
  await waitUntil('the configuration to be live', liveDeadlineMs, async () => {
    const [published, applied] = [await revisionOf(controlPlane), await revisionOf(service)];
    return applied >= published && applied > 0 ? undefined : `revision ${applied} of ${published}`;
  });
}

/** CPU time of a stack so far in ms, by process. */
export async function cpuMsOfStack(stack: WholeStack): Promise<Record<string, number>> {
  return { ...(await cpuMsOf(stack)), 'control plane': await processFamilyCpuMs(stack.control.service.pid) };
}

/** Process ids of a stack by name; the sessions of the database are children of PostgreSQL's process. */
export function pidsOfStack({ gateway, pipeline, natsPids, postgresPid, control }: WholeStack): Record<string, number> {
  const [nats = 0] = natsPids;
  return {
    gateway: gateway.pid,
    pipeline: pipeline.pid,
    log: nats,
    PostgreSQL: postgresPid,
    'control plane': control.service.pid,
  };
}
