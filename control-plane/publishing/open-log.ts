import { checkAtStart } from '../../shared/doctor/check-at-start.ts';
import { connectLog } from '../../shared/nats/connection/connection.ts';
import { logAccess } from '../../shared/nats/connection/log-access.ts';
import type { LogVariables } from '../../shared/nats/connection/log-access.ts';
import type { Buckets } from '../../shared/nats/buckets/open-buckets.ts';
import { refuseFewerCopies } from '../../shared/nats/streams/topology.ts';
import { readTopologySettings } from '../../shared/nats/streams/topology-settings.ts';
import { readDeploymentId } from '../../shared/postgres/deployment-id.ts';
import type { DatabaseAccess } from '../../shared/postgres/database-access.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Scope } from '../../shared/runtime/scope.ts';
import { openLogBuckets } from './log-buckets.ts';
import type { LogBuckets } from './log-buckets.ts';

type Variables = LogVariables & Parameters<typeof readTopologySettings>[0];

/** Follows a bucket of the log from its start, and again from its start each time the buckets are reopened. */
export type BucketFollower = { follow(buckets: Buckets): Promise<void>; stop(): void };

/**
 * Connects to the log and creates missing streams and buckets. Once it returns, `followers` have read their buckets.
 */
export async function openLog(
  env: Variables,
  access: DatabaseAccess,
  followers: readonly BucketFollower[],
  logger: Logger,
  scope: Scope,
): Promise<LogBuckets> {
  const name = 'sluice control plane';
  const connection = scope.use('log', await connectLog({ ...logAccess(env), name }), (log) => log.close());
  void checkAtStart({ connection, monitorUrls: env.NATS_MONITOR_URL, logger });
  await refuseFewerCopies(connection, env.LOG_REPLICAS);
  scope.use('followers of the log', followers, (all) => {
    for (const follower of all) follower.stop();
  });
  const buckets = await openLogBuckets({
    connection,
    deploymentId: await readDeploymentId(access),
    topology: readTopologySettings(env),
    logger,
    async onOpened(opened) {
      await Promise.all(followers.map((follower) => follower.follow(opened)));
    },
  });
  return scope.use('log buckets', buckets, (opened) => opened.stop());
}
