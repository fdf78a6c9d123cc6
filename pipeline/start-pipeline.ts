import type { Piscina } from 'piscina';
import type { Logger } from '../shared/runtime/logger.ts';
import type { Scope } from '../shared/runtime/scope.ts';
import { instanceIdOf } from './env.ts';
import type { PipelineEnv } from './env.ts';
import { checkGeoDatabase } from './workers/dispatch/geo-regions.ts';
import { readPoolSettings } from './supervisor/pool-settings.ts';
import { createPool } from './supervisor/pool.ts';
import type { Supervisor } from './supervisor/supervisor.ts';
import { endWithoutLog } from './end-process.ts';
import { openLog } from './open-log.ts';
import { runActors } from './run-actors.ts';
import { startJobs } from './start-jobs.ts';
import { startReports } from './start-reports.ts';
import { servePipelineStatus } from './serve-status.ts';

export type RunningPipeline = {
  readonly metricsPort: number;
  readonly supervisor: Supervisor;
  readonly pool: Piscina;
};

/**
 * Builds and starts the pipeline; `scope` ends its parts. Large: the composition root, one resource after the other.
 */
export async function startPipeline(env: PipelineEnv, logger: Logger, scope: Scope): Promise<RunningPipeline> {
  const instanceId = instanceIdOf(env);
  // Threads load their code while the rest of the pipeline starts.
  const poolSettings = readPoolSettings(env);
  const pool = createPool(poolSettings);
  // Only logged, because the task of a thread that dies rejects as well.
  pool.on('error', (error) => logger.warn({ err: error }, 'a pool thread failed'));
  scope.use('threads', pool, (one) => one.destroy());
  await checkGeoDatabase(env.GEOIP_DATABASE);
  const log = await openLog(env, instanceId, logger, scope);
  const actors = await runActors(env, { log, pool, poolSettings, logger }, scope);
  const jobs = await startJobs(env, { log, actors, logger }, scope);
  const backlog = startReports(env, { log, actors, logger }, scope);
  const { threads, heapMaxMib: threadHeapMib } = poolSettings;
  const { connection, partitions } = log;
  const metricsPort = await servePipelineStatus(
    env,
    { connection, pool, threads, actors, jobs, backlog, logger },
    scope,
  );
  void connection.closed.then((error) => endWithoutLog(error, logger, scope));
  logger.info({ instanceId, threads, threadHeapMib, partitions, metricsPort }, 'pipeline started');
  return { metricsPort, supervisor: actors.supervisor, pool };
}
