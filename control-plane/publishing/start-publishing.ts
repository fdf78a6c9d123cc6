import type { ConfigSigner } from '../../shared/contracts/config/signed-config.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Scope } from '../../shared/runtime/scope.ts';
import type { Services } from '../api/services.ts';
import type { Databases } from '../store/open-databases.ts';
import { createConfigPublisher } from './config-publisher.ts';
import type { ConfigPublisher } from './config-publisher.ts';
import { competeForLeadership } from './leader-lock.ts';
import type { LogBuckets } from './log-buckets.ts';
import { createPublishingService, leases, publishing } from './publishing-service.ts';
import type { LeaseCache } from './publishing-service.ts';
import { readPublishingSettings } from './publishing-settings.ts';

export type Publishing = { readonly publisher: ConfigPublisher; leading(): boolean };

export type PublishingParts = {
  readonly databases: Databases;
  readonly logBuckets: LogBuckets;
  readonly leaseCache: LeaseCache;
  readonly signer: ConfigSigner | undefined;
  readonly logger: Logger;
  readonly now: () => Date;
};

/** Publishes live versions to the log while this control plane is the leader. */
export function startPublishing(
  env: Parameters<typeof readPublishingSettings>[0],
  { databases, logBuckets, leaseCache, signer, logger, now }: PublishingParts,
  services: Services,
  scope: Scope,
): Publishing {
  const { storage, access } = databases;
  const { pushBytesPerS, documentBytesMax } = readPublishingSettings(env);
  const wake = (): void => publisher.wake();
  const lock = competeForLeadership({ ...access, logger, onWake: () => wake() });
  scope.use('leadership', lock, (one) => one.stop());
  const publisher = createConfigPublisher({
    storage,
    logBuckets,
    signer,
    logger,
    pushBytesPerS,
    leading: () => lock.leading,
    now,
  });
  scope.use('publisher', publisher, (one) => one.stop());
  services.provide(
    publishing,
    createPublishingService({ storage, logBuckets, leases: leaseCache, documentBytesMax, wake }),
  );
  services.provide(leases, leaseCache);
  return { publisher, leading: () => lock.leading };
}
