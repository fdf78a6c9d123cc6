import { createBucketTokens } from '../shared/egress/oauth/bucket-tokens.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import type { Scope } from '../shared/runtime/scope.ts';
import { provideActivity } from './activity/provide-activity.ts';
import type { CoreServices } from './api/define-endpoint.ts';
import type { EventStreams } from './api/event-streams.ts';
import type { Services } from './api/services.ts';
import type { DestinationTests } from './destinations/destination-tests.ts';
import { readDestinationTestSettings } from './destinations/destination-tests.ts';
import { provideDestinations } from './destinations/provide-destinations.ts';
import type { ControlPlaneEnv } from './env.ts';
import { provideEvents } from './events/provide-events.ts';
import { provideHealth } from './health/provide-health.ts';
import { provideLogSearch } from './log-search/provide-log-search.ts';
import { recheckStreams } from './keys/endpoints.ts';
import { provideSystem } from './operate/provide-system.ts';
import type { LogBuckets } from './publishing/log-buckets.ts';
import { createQuarantineService, quarantine } from './quarantine/quarantine-service.ts';
import { provideReplays } from './replays/provide-replays.ts';
import { provideSources } from './sources/provide-sources.ts';
import type { LogFollowers } from './log-followers.ts';
import { provideBacklogGuard } from './versions/provide-backlog-guard.ts';
import { provideVisitors } from './visitors/provide-visitors.ts';
import type { ErasureForwarding } from './erasures/forward-erasures.ts';
import { erasureRequestTimeoutMs, provideErasures } from './erasures/provide-erasures.ts';

export type ServiceParts = {
  readonly core: CoreServices;
  readonly logBuckets: LogBuckets;
  readonly followers: LogFollowers;
  readonly eventStreams: EventStreams;
  readonly logger: Logger;
  leading(): boolean;
};

/** The services that the metrics page measures. */
export type ProvidedServices = {
  readonly destinationTests: DestinationTests;
  readonly erasureForwarding: ErasureForwarding;
};

/** Provides the services that endpoints use, except publishing. */
export function provideServices(
  env: ControlPlaneEnv,
  { core, logBuckets, followers, eventStreams, logger, leading }: ServiceParts,
  services: Services,
  scope: Scope,
): ProvidedServices {
  const { storage, pool, secretBox, now } = core;
  const { connection } = logBuckets;
  const { leases, liveValues, plans, work } = followers;
  const onFailure = (err: unknown): void => logger.warn({ err }, 'polling for configuration changes failed');
  const logFigures = provideHealth({ logBuckets, values: liveValues, now }, services);
  services.provide(recheckStreams, (accountId) => eventStreams.recheck(accountId));
  provideBacklogGuard(env, services);
  provideVisitors(env, { connection, pool, logger, now }, services);
  provideSources(env, services);
  services.provide(quarantine, createQuarantineService(connection, pool));
  provideReplays({ logBuckets, logger }, services, scope);
  const read = { storage, pool, liveValues, leases, logFigures, now };
  provideActivity({ ...read, onFailure }, services, scope);
  provideEvents({ pool, now, onFailure }, services, scope);
  provideLogSearch({ logBuckets, logger }, services, scope);
  provideSystem(env, { logBuckets, workCache: work, pool, revision: () => plans.revision, now }, services);
  const requestTimeoutMs = Math.max(erasureRequestTimeoutMs, readDestinationTestSettings(env).timeoutMs);
  const tokens = createBucketTokens(() => logBuckets.buckets.tokens, secretBox, requestTimeoutMs);
  return {
    destinationTests: provideDestinations(env, tokens, services, scope),
    erasureForwarding: provideErasures(
      env,
      { connection, pool, secretBox, tokens, logger, leading, now },
      services,
      scope,
    ),
  };
}
