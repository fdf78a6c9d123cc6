import { holdProcessLease } from '../shared/nats/buckets/process-lease.ts';
import { awaitTrusted } from '../shared/nats/buckets/config-feed.ts';
import { createUnreadableEntities } from '../shared/collections/unreadable-entities.ts';
import { withDeadline } from '../shared/runtime/deadline.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import { readQuotaSettings } from '../shared/limits/index.ts';
import type { Scope } from '../shared/runtime/scope.ts';
import { createSourceSecretBox } from '../shared/contracts/config/secrets.ts';
import { activityHoursKept } from '../shared/contracts/activity-settings.ts';
import { readAdmissionSettings } from './ingest/admission.ts';
import { awaitAccounts } from './ingest/await-accounts.ts';
import { followBackpressure } from './ingest/backpressure.ts';
import { followSources } from './ingest/follow-sources.ts';
import { PublishedSources } from './ingest/published-sources.ts';
import { createSecretOpener } from './ingest/source-secrets.ts';
import type { GatewayEnv } from './env.ts';
import { reportActivity } from './status/report-activity.ts';
import { stepMs } from './end-process.ts';
import { reopenAfterReconnect } from './open-log.ts';
import type { OpenedLog } from './open-log.ts';
import type { OpenedCommit } from './open-commit.ts';
import type { SourceFeed } from './ingest/follow-sources.ts';
import type { Backpressure } from './ingest/backpressure.ts';
import type { UnreadableEntities } from '../shared/collections/unreadable-entities.ts';

/** The sources and accounts that the gateway follows. */
export type FollowedConfiguration = {
  readonly sources: PublishedSources;
  readonly feed: SourceFeed;
  readonly backpressure: Backpressure;
  readonly unreadable: UnreadableEntities;
};

/** Follows the configuration and backpressure. Resolves once the sources are known. */
export async function followConfiguration(
  env: GatewayEnv,
  log: OpenedLog,
  { waiting }: Pick<OpenedCommit, 'waiting'>,
  logger: Logger,
  scope: Scope,
): Promise<FollowedConfiguration> {
  const { connection, buckets, instance, holder, trust } = log;
  const { instanceId } = instance;
  const sources = new PublishedSources(
    readAdmissionSettings(env).rates,
    createSecretOpener(createSourceSecretBox(env), logger),
  );
  const activity = reportActivity({
    bucket: buckets.health,
    instanceId,
    sources,
    hoursKept: activityHoursKept,
    onError: (error) => logger.warn({ err: error }, 'writing source activity failed'),
  });
  scope.use('source activity', activity, (one) => withDeadline(one.stop(), stepMs));
  const lease = holdProcessLease(buckets.leases, { ...instance, holder }, (error) =>
    logger.warn({ err: error }, 'renewing the lease failed'),
  );
  scope.use('lease', lease, (one) => withDeadline(one.release(), stepMs));
  const unreadable = createUnreadableEntities(logger);
  const published = { connection, replicas: env.LOG_REPLICAS, trust };
  const feed = await followSources(published, sources, lease, unreadable, logger);
  scope.use('configuration', feed, (one) => one.stop());
  // Before a gateway knows the sources, it would answer 401 to all requests.
  await awaitTrusted(feed);
  await awaitAccounts(feed, logger);
  const intakes = () => sources.intakes;
  const backpressure = await followBackpressure({
    bucket: buckets.leases,
    connection,
    intakes,
    waiting,
    ingestBytesMax: env.LOG_INGEST_BYTES_MAX,
    quotas: readQuotaSettings(env),
    logger,
  });
  scope.use('backpressure', backpressure, (one) => one.stop());
  reopenAfterReconnect(log, feed, logger, scope);
  return { sources, feed, backpressure, unreadable };
}
