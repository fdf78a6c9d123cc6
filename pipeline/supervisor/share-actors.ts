import type { Bucket } from '../../shared/log/bucket.ts';
import type { LogConnection } from '../../shared/log/connection.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { Assignments } from './assignments.ts';
import { followMembership } from './membership.ts';
import type { Membership } from './membership.ts';
import { openPartitionLeases } from './partition-leases.ts';
import type { PartitionLeases } from './partition-leases.ts';
import type { Supervisor } from './supervisor.ts';

export type ShareActorsOptions = {
  readonly bucket: Bucket;
  readonly connection: LogConnection;
  readonly instanceId: string;
  readonly supervisor: Supervisor;
  readonly logger: Logger;
};

export type SharedActors = {
  readonly assignments: Assignments;
  readonly membership: Membership;
  readonly leases: PartitionLeases;
};

/** Shares all actors with the other pipeline instances: each runs those it owns, and takes over when one goes. */
export async function shareActors(options: ShareActorsOptions): Promise<SharedActors> {
  const { bucket, connection, instanceId, supervisor, logger } = options;
  const onError = (error: unknown): void => logger.warn({ err: error }, 'sharing actors with other instances failed');
  let assignments: Assignments | undefined;
  const membership = await followMembership({
    bucket,
    connection,
    instanceId,
    onChanged: (instances) => {
      logger.info({ instances }, 'pipeline instances changed');
      assignments?.reassign();
    },
    onError,
  });
  const leases = await openPartitionLeases({
    bucket,
    connection,
    instanceId,
    onHeld: (partition) => assignments?.leaseHeld(partition),
    onLost: (partition) => assignments?.leaseLost(partition),
    onError,
  });
  assignments = new Assignments({ supervisor, leases, logger, owns: (actorId) => membership.owns(actorId) });
  return { assignments, membership, leases };
}
