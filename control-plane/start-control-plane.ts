import { createUnreadableEntities } from '../shared/collections/unreadable-entities.ts';
import { createSecretBox, readSecretKeys } from '../shared/contracts/config/secrets.ts';
import { createConfigSigner } from '../shared/contracts/config/signed-config.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import type { MetricsPage } from '../shared/runtime/metrics/metrics-page.ts';
import type { Scope } from '../shared/runtime/scope.ts';
import type { ReadyCheck } from '../shared/runtime/status/serve-status.ts';
import type { CoreServices } from './api/define-endpoint.ts';
import { createEventStreams, readEventStreamSettings } from './api/event-streams.ts';
import { createPaginator } from './api/pagination.ts';
import { createServices } from './api/services.ts';
import { bootstrapAtStart } from './bootstrap/bootstrap.ts';
import type { ControlPlaneEnv } from './env.ts';
import { openExperiments } from './experiments/assignment/open-experiments.ts';
import { createLogFollowers } from './log-followers.ts';
import { provideServices } from './provide-services.ts';
import { openLog } from './publishing/open-log.ts';
import { startPublishing } from './publishing/start-publishing.ts';
import { serveInterface } from './serve-interface.ts';
import { openMetricsPage } from './show-metrics.ts';
import { readAccountLimits } from './store/account-limits.ts';
import { openDatabases } from './store/open-databases.ts';

export type ControlPlane = {
  /** The port the configuration interface listens on. */
  readonly port: number;
  readonly checks: readonly ReadyCheck[];
  readonly page: MetricsPage;
};

/** Starts the control plane. `scope` stops its parts in this order: HTTP interface, publishing, connections. */
export async function startControlPlane(env: ControlPlaneEnv, logger: Logger, scope: Scope): Promise<ControlPlane> {
  const now = (): Date => new Date();
  const secretKeys = readSecretKeys(env);
  const secretBox = createSecretBox(...secretKeys);
  const signer = createConfigSigner(env);
  const limits = readAccountLimits(env);
  const databases = await openDatabases(env, logger, scope);
  const { storage, visitors: pool, logins } = databases;
  const unreadable = createUnreadableEntities(logger);
  const followers = createLogFollowers(signer, logger, unreadable);
  const { plans } = followers;
  const logBuckets = await openLog(env, databases.access, followers.all, logger, scope);
  const { connection } = logBuckets;
  await bootstrapAtStart(env, { storage, secretBox, limits, now, logger });

  const services = createServices();
  const publishingParts = { databases, logBuckets, leaseCache: followers.leases, signer, logger, now };
  const { publisher, leading } = startPublishing(env, publishingParts, services, scope);
  const core: CoreServices = { storage, pool, secretBox, limits, paginator: createPaginator(...secretKeys), now };
  const eventStreams = createEventStreams(readEventStreamSettings(env));
  // The HTTP server waits for open answers, so event streams end first.
  scope.use('event streams', eventStreams, (one) => one.stop(), { endsBefore: 'http' });
  const serviceParts = { core, logBuckets, followers, eventStreams, logger, leading };
  const provided = provideServices(env, serviceParts, services, scope);
  const experiments = openExperiments(env, { plans, pool: databases.assignments, logBuckets }, now);
  const { service } = experiments;
  const served = await serveInterface(
    env,
    { core, services, eventStreams, logins, experiments: service, logger },
    scope,
  );

  const counted = { ...served, ...experiments, ...provided, publisher, leading, pools: databases.figures };
  // Every control plane follows the bucket, whichever control plane writes to it.
  const configRevision = (): number => plans.revision;
  const page = openMetricsPage(env, { ...counted, connection, unreadable, logger, configRevision }, scope);
  const log: ReadyCheck = {
    name: 'log',
    check: () => (connection.problem === undefined ? { ok: true } : { ok: false, detail: connection.problem }),
  };
  return { port: served.port, checks: [databases.check, log], page };
}
