import { claimInstanceId, watchInstanceId } from '../shared/nats/buckets/instance-claim.ts';
import { checkAtStart } from '../shared/doctor/check-at-start.ts';
import { afterReconnect } from '../shared/nats/connection/after-reconnect.ts';
import { connectLog } from '../shared/nats/connection/connection.ts';
import { logAccess } from '../shared/nats/connection/log-access.ts';
import { openLeases, openPipelineBuckets } from '../shared/nats/buckets/open-buckets.ts';
import { ForeignLogError, ensureTopology, refuseFewerCopies } from '../shared/nats/streams/topology.ts';
import { readTopologySettings } from '../shared/nats/streams/topology-settings.ts';
import type { InstanceHolder } from '../shared/contracts/process-report.ts';
import { createConfigTrust } from '../shared/contracts/config/signed-config.ts';
import type { ConfigTrust } from '../shared/contracts/config/signed-config.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import type { Scope } from '../shared/runtime/scope.ts';
import { databaseAccess } from '../shared/postgres/database-access.ts';
import { awaitDeploymentId, readDeploymentId } from '../shared/postgres/deployment-id.ts';
import type { PipelineEnv } from './env.ts';
import { endProcess, stepMs } from './end-process.ts';
import type { LogConnection } from '../shared/nats/connection/connection.ts';

const deploymentEveryMs = 5_000;

export type OpenedLog = {
  readonly connection: LogConnection;
  readonly buckets: Awaited<ReturnType<typeof openPipelineBuckets>>;
  readonly instance: Instance;
  readonly holder: InstanceHolder;
  readonly trust: ConfigTrust;
  readonly partitions: number;
};

type Instance = { readonly kind: 'pipeline'; readonly instanceId: string };

/** Connects to the log, claims this instance's id in it, and recreates missing streams and buckets on a reconnect. */
export async function openLog(env: PipelineEnv, instanceId: string, logger: Logger, scope: Scope): Promise<OpenedLog> {
  const trust = createConfigTrust(env);
  const connection = await connectLog({ ...logAccess(env), name: `pipeline-${instanceId}` });
  scope.use('log', connection, (log) => log.close(stepMs));
  void checkAtStart({ connection, monitorUrls: env.NATS_MONITOR_URL, logger });
  await refuseFewerCopies(connection, env.LOG_REPLICAS);
  const instance = { kind: 'pipeline', instanceId } as const;
  const holder = await claimInstanceId(await openLeases(connection, env.LOG_REPLICAS), instance);
  const topology = readTopologySettings(env);
  let deploymentId = await readDeploymentId(databaseAccess(env));
  const { partitions, created } = await ensureTopology(connection, topology, deploymentId);
  if (created.length > 0) logger.info({ streams: created }, 'created missing streams');
  const buckets = await openPipelineBuckets(connection, env.LOG_REPLICAS);
  const claim = watchInstanceId(buckets.leases, instance, holder, () => {
    logger.fatal(
      { instanceId },
      'another process uses this INSTANCE_ID now: this process was silent for too long and was considered dead',
    );
    // A regular shutdown would release resources that the other process holds by now.
    process.exit(1);
  });
  scope.use('instance id', claim, (one) => one.stop());
  const reopening = afterReconnect(
    connection,
    async () => {
      const found = await ensureTopology(connection, topology, deploymentId);
      await openPipelineBuckets(connection, env.LOG_REPLICAS);
      if (found.created.length > 0)
        logger.error({ streams: found.created }, 'the log came back without some streams; created them again');
      if (found.partitions !== partitions) {
        logger.fatal({ from: partitions, to: found.partitions }, 'the number of partitions of the log has changed');
        await endProcess('partitions changed', scope);
      }
    },
    (error) => logger.warn({ err: error }, 'reopening the log failed'),
  );
  scope.use('reopening', reopening, (one) => one.stop());
  if (deploymentId === undefined) {
    // Without the database, events of known visitors are still processed, so the check of the deployment is postponed.
    const awaiting = awaitDeploymentId(databaseAccess(env), deploymentEveryMs, (id) => {
      deploymentId = id;
      ensureTopology(connection, topology, id).catch((error: unknown) => endOnForeignLog(error, logger, scope));
    });
    scope.use('deployment', awaiting, (one) => one.stop());
  }
  return { connection, buckets, instance, holder, trust, partitions };
}

async function endOnForeignLog(error: unknown, logger: Logger, scope: Scope): Promise<void> {
  // Any other error means that the log cannot be reached; the next reconnect checks again.
  if (!(error instanceof ForeignLogError) || scope.ending) return;
  logger.fatal({ err: error }, 'the log belongs to another deployment than this database');
  await endProcess('foreign log', scope);
}
