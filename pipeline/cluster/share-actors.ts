import type { ProcessLease } from '../../shared/nats/buckets/process-lease.ts';
import type { Bucket } from '../../shared/nats/buckets/bucket.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { Placement } from './placement.ts';
import { followMembership } from './membership.ts';
import type { Membership, MembershipTimes } from './membership.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';

export type ShareActorsOptions = {
  readonly bucket: Bucket;
  readonly connection: LogConnection;
  readonly instanceId: string;
  readonly times: MembershipTimes;
  readonly lease: Pick<ProcessLease, 'letGo'>;
  readonly supervisor: Supervisor;
  readonly logger: Logger;
};

export type SharedActors = {
  readonly placement: Placement;
  readonly membership: Membership;
};

/**
 * Divides all actors among the pipeline instances. Each runs the actors that it owns, and takes over the actors of an instance
 * that leaves.
 */
export async function shareActors(options: ShareActorsOptions): Promise<SharedActors> {
  const { bucket, connection, instanceId, times, lease, supervisor, logger } = options;
  const membership = await followMembership({
    bucket,
    connection,
    instanceId,
    times,
    onError: (error) => logger.warn({ err: error }, 'updating membership failed'),
  });
  logger.info({ instances: membership.instances }, 'pipeline instances');
  const placement = new Placement({ supervisor, membership, logger, onLetGo: (instances) => lease.letGo(instances) });
  membership.onChanged((instances) => {
    logger.info({ instances }, 'pipeline instances changed');
    void placement.reassign(instances);
  });
  // No actor runs here yet, so this instance has already released all actors that others own.
  lease.letGo(membership.instances);
  return { placement, membership };
}
