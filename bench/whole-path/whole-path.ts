import { randomBytes } from 'node:crypto';
import { migrate } from '../../shared/postgres/migrate.ts';
import { benchAccountId } from '../config/ids.ts';
import type { BenchAccount, BenchDestination } from '../config/account-document.ts';
import { publishAccounts } from '../config/account-document.ts';
import type { Sink } from '../sink/sink.ts';
import { startSink } from '../sink/sink.ts';
import type { Service } from '../system/services.ts';
import { startGateway, startPipeline } from '../system/services.ts';
import type { Stage } from '../system/stage.ts';
import { processFamilyCpuMs } from '../machine/process-use.ts';

/** The whole path of an event: a gateway, a log, a pipeline with its database, and a sink. */
export type WholePath = {
  readonly natsUrl: string;
  /** Process ids of the log's nodes. */
  readonly natsPids: readonly number[];
  readonly natsMonitorUrls: readonly string[];
  readonly databaseUrl: string;
  readonly postgresPid: number;
  readonly accountId: string;
  readonly token: string;
  readonly gateway: Service;
  readonly pipeline: Service;
  readonly sink: Sink;
  /** Time from the start of the pipeline until it was ready. */
  readonly pipelineStartMs: number;
};

export type WholePathOptions = {
  destinations(sink: Sink): readonly BenchDestination[];
  /** Accounts in addition to the one that receives events. */
  otherAccounts?(sink: Sink): readonly BenchAccount[];
  readonly env?: Readonly<Record<string, string>>;
  readonly syncAlways?: boolean;
  /** Number of the log's nodes, each with a replica of every stream. */
  readonly nodes?: number;
  /** A running sink to use; by default a new one is started. */
  readonly sink?: Sink;
};

export async function startWholePath(stage: Stage, options: WholePathOptions): Promise<WholePath> {
  const sink = options.sink ?? (await startSink(stage));
  const log = await startLog(stage, options);
  const token = `src_live_${randomBytes(16).toString('hex')}`;
  const accounts = [
    { accountId: benchAccountId, token, destinations: options.destinations(sink) },
    ...(options.otherAccounts?.(sink) ?? []),
  ];
  await publishAccounts(log.url, accounts, log.pids.length);
  const databaseUrl = await stage.createDatabase();
  await migrate(databaseUrl);
  const env = { LOG_REPLICAS: String(log.pids.length), ...options.env };
  const gateway = await startGateway(stage, log.url, { env });
  const startedMs = performance.now();
  const pipeline = await startPipeline(stage, log.url, databaseUrl, { env });
  const pipelineStartMs = performance.now() - startedMs;
  const postgresPid = await stage.postgresPid();
  const servers = { natsUrl: log.url, natsPids: log.pids, natsMonitorUrls: log.monitorUrls, databaseUrl, postgresPid };
  return { ...servers, accountId: benchAccountId, token, gateway, pipeline, sink, pipelineStartMs };
}

/** Starts a log of one node, or of several with a replica of every stream on each. */
export async function startLog(
  stage: Stage,
  { nodes = 1, syncAlways }: Pick<WholePathOptions, 'nodes' | 'syncAlways'>,
): Promise<{ readonly url: string; readonly pids: readonly number[]; readonly monitorUrls: readonly string[] }> {
  const servers =
    nodes === 1
      ? [await stage.startLog(syncAlways === undefined ? {} : { syncAlways })]
      : await stage.startCluster(nodes);
  return {
    url: servers.map(({ url }) => url).join(','),
    pids: servers.map(({ pid }) => pid),
    monitorUrls: servers.map(({ monitorUrl }) => monitorUrl),
  };
}

/** CPU time so far in ms, by process; the log's nodes are added up. */
export async function cpuMsOf({
  gateway,
  pipeline,
  natsPids,
  postgresPid,
}: Pick<WholePath, 'gateway' | 'pipeline' | 'natsPids' | 'postgresPid'>): Promise<Record<string, number>> {
  const nodes = await Promise.all(natsPids.map(processFamilyCpuMs));
  return {
    gateway: await processFamilyCpuMs(gateway.pid),
    log: nodes.reduce((sum, ms) => sum + ms, 0),
    pipeline: await processFamilyCpuMs(pipeline.pid),
    PostgreSQL: await processFamilyCpuMs(postgresPid),
  };
}
