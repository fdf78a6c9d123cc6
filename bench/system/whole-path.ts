import { randomBytes } from 'node:crypto';
import { migrate } from '../../shared/storage/migrate.ts';
import { benchAccountId } from '../config/ids.ts';
import type { BenchAccount, BenchDestination } from '../config/account-document.ts';
import { publishAccounts } from '../config/publish-accounts.ts';
import { startSink } from '../sink/sink.ts';
import type { Sink } from '../sink/sink.ts';
import { startGateway, startPipeline } from './services.ts';
import type { Service } from './services.ts';
import type { Stage } from './stage.ts';

/** A gateway, a log, a pipeline with its database, and a sink: everything an event passes. */
export type WholePath = {
  readonly natsUrl: string;
  readonly natsPid: number;
  readonly databaseUrl: string;
  readonly postgresPid: number;
  readonly accountId: string;
  readonly token: string;
  readonly gateway: Service;
  readonly pipeline: Service;
  readonly sink: Sink;
  /** From the start of the pipeline until it was ready. */
  readonly pipelineStartMs: number;
};

export type WholePathOptions = {
  destinations(sink: Sink): readonly BenchDestination[];
  /** Beside the one events are sent to. */
  otherAccounts?(sink: Sink): readonly BenchAccount[];
  readonly env?: Readonly<Record<string, string>>;
  readonly syncAlways?: boolean;
  /** One that runs already. */
  readonly sink?: Sink;
};

export async function startWholePath(stage: Stage, options: WholePathOptions): Promise<WholePath> {
  const sink = options.sink ?? (await startSink(stage));
  const log = await stage.startLog(options.syncAlways === undefined ? {} : { syncAlways: options.syncAlways });
  const token = `src_live_${randomBytes(16).toString('hex')}`;
  await publishAccounts(log.url, [
    { accountId: benchAccountId, token, destinations: options.destinations(sink) },
    ...(options.otherAccounts?.(sink) ?? []),
  ]);
  const databaseUrl = await stage.createDatabase();
  await migrate(databaseUrl);
  const env = options.env ?? {};
  const gateway = await startGateway(stage, log.url, { env });
  const startedMs = performance.now();
  const pipeline = await startPipeline(stage, log.url, databaseUrl, { env });
  const pipelineStartMs = performance.now() - startedMs;
  const postgresPid = await stage.postgresPid();
  const servers = { natsUrl: log.url, natsPid: log.pid, databaseUrl, postgresPid };
  return { ...servers, accountId: benchAccountId, token, gateway, pipeline, sink, pipelineStartMs };
}
