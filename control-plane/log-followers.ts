import type { Logger } from '../shared/runtime/logger.ts';
import type { UnreadableEntities } from '../shared/collections/unreadable-entities.ts';
import { createConfigTrust } from '../shared/contracts/config/signed-config.ts';
import type { ConfigSigner } from '../shared/contracts/config/signed-config.ts';
import { createExperimentPlans } from './experiments/assignment/experiment-plans.ts';
import type { ExperimentPlans } from './experiments/assignment/experiment-plans.ts';
import { createLiveValues } from './health/live-values.ts';
import type { LiveValues } from './health/live-values.ts';
import { createWorkCache } from './operate/endpoints.ts';
import type { WorkCache } from './operate/endpoints.ts';
import type { BucketFollower } from './publishing/open-log.ts';
import { createLeaseCache } from './publishing/publishing-service.ts';
import type { LeaseCache } from './publishing/publishing-service.ts';

/** The buckets of the log that the control plane follows. */
export type LogFollowers = {
  readonly plans: ExperimentPlans;
  readonly liveValues: LiveValues;
  readonly leases: LeaseCache;
  readonly work: WorkCache;
  readonly all: readonly BucketFollower[];
};

/** With a signer, only configuration with its signature is accepted. */
export function createLogFollowers(
  signer: ConfigSigner | undefined,
  logger: Logger,
  unreadable: UnreadableEntities,
): LogFollowers {
  const plans = createExperimentPlans(createConfigTrust({ CONFIG_PUBLIC_KEYS: signer?.publicKey }), logger, unreadable);
  const liveValues = createLiveValues();
  const leases = createLeaseCache();
  const work = createWorkCache();
  const all: BucketFollower[] = [
    { follow: ({ config }) => plans.follow(config), stop: () => plans.stop() },
    { follow: ({ health }) => liveValues.follow(health), stop: () => liveValues.stop() },
    { follow: (buckets) => leases.follow(buckets.leases), stop: () => leases.stop() },
    { follow: (buckets) => work.follow(buckets.leases), stop: () => work.stop() },
  ];
  return { plans, liveValues, leases, work, all };
}
