import type { Pool } from 'pg';
import { connectLog } from '../../shared/nats/connection/connection.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { openPipelineBuckets } from '../../shared/nats/buckets/open-buckets.ts';
import type { Bucket } from '../../shared/nats/buckets/bucket.ts';
import { followErasures } from '../../shared/nats/erasures/follow-erasures.ts';
import type { Erasures } from '../../shared/nats/erasures/follow-erasures.ts';
import { withDeadline } from '../../shared/runtime/deadline.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { createSecretBox } from '../../shared/contracts/config/secrets.ts';
import { createVisitorStore } from '../../shared/visitors/postgres-visitor-store.ts';
import { memoryTrustedMs } from '../../shared/visitors/trusted-memory.ts';
import { createVisitorPool } from '../../shared/visitors/visitor-pool.ts';
import type { PostgresVisitorStore } from '../../shared/visitors/postgres-visitor-store.ts';
import { createEgressRules } from '../../shared/egress/egress-rules.ts';
import { createBucketTokens } from '../../shared/egress/oauth/bucket-tokens.ts';
import { createDestinationSenders } from '../../shared/egress/protocols/destination-senders.ts';
import type { Sender } from '../../shared/egress/sender.ts';
import { CostBudget } from '../../shared/limits/index.ts';
import { RoundBudgets } from '../workers/dispatch/sources/round-budget.ts';
import { FrameQuotas } from '../workers/dispatch/sources/frame-quota.ts';
import { ReferencedEvents } from '../workers/dispatch/events/referenced-events.ts';
import { OpenedFrames } from '../workers/dispatch/events/opened-frames.ts';
import { createDeliveryTimings } from '../workers/dispatch/sending/delivery-timings.ts';
import { openGeoRegions } from '../workers/dispatch/geo-regions.ts';
import type { GeoRegions } from '../workers/dispatch/geo-regions.ts';
import type { DeliveryTimings } from '../workers/dispatch/sending/delivery-timings.ts';
import { createSourceActivity } from '../workers/dispatch/health/source-activity.ts';
import type { SourceActivity } from '../workers/dispatch/health/source-activity.ts';
import { createOutcomeRecorder } from '../workers/recent/outcome-recorder.ts';
import type { OutcomeRecorder } from '../workers/recent/outcome-recorder.ts';
import type { RetryUse } from '../workers/dispatch/settlement/retry-quota.ts';
import { createRetryUses } from './retry-uses.ts';
import type { RetryUses } from './retry-uses.ts';
import { createAccountPlans } from './account-plans.ts';
import type { AccountPlans } from './account-plans.ts';
import type { HostSettings } from './host-settings.ts';

/** Resources that the actors of one thread share. */
export type HostResources = {
  readonly connection: LogConnection;
  readonly health: Bucket;
  readonly positions: Bucket;
  readonly visitors: PostgresVisitorStore;
  readonly plans: AccountPlans;
  readonly sourceActivity: SourceActivity;
  readonly timings: DeliveryTimings;
  readonly roundBudgets: RoundBudgets;
  readonly costBudget: CostBudget;
  readonly frameQuotas: FrameQuotas;
  readonly openedFrames: OpenedFrames;
  readonly referencedEvents: ReferencedEvents;
  readonly pool: Pool;
  /** How full the retry log is. */
  readonly retryUses: RetryUses;
  readonly retryUse: () => RetryUse;
  readonly outcomes: OutcomeRecorder;
  /** Tells which visitors are erased: none of their events is sent. */
  readonly erasures: Erasures;
  /** Looks up the location of an IP address. */
  readonly regions: GeoRegions;
  /** Creates a sender; senders of one account share their connections. */
  createSender(accountId: string): Sender;
  close(deadlineMs: number): Promise<void>;
};

export async function openHostResources(settings: HostSettings, logger: Logger): Promise<HostResources> {
  const { instanceId, thread, dispatcher } = settings;
  const name = `pipeline-${instanceId}-${thread}`;
  const regions = await openGeoRegions(settings.geoDatabase);
  // The pipeline checked the log when it started, so a thread that restarts does not check it again.
  const connection = await connectLog({ ...settings.log, name, acceptsOldServer: true });
  const { health, positions, tokens } = await openPipelineBuckets(connection, settings.replicas);
  const pool = createVisitorPool({
    ...settings.database,
    connectionsMax: settings.databaseConnectionsMax,
    name: `sluice-pipeline-${instanceId}-${thread}`,
    forceIndexScans: true,
    onIdleError: (error) => logger.warn({ err: error }, 'database connection lost'),
  });
  const rules = createEgressRules(settings.egress.allowed, settings.egress.denied);
  const secrets = createSecretBox(...settings.secretKeys);
  const tokenSource = createBucketTokens(() => tokens, secrets, dispatcher.sender.totalTimeoutMs);
  const senders = createDestinationSenders({ rules, limits: dispatcher.sender, tokens: tokenSource });
  const sourceActivity = createSourceActivity(health, instanceId, (error) =>
    logger.warn({ err: error }, 'writing source activity failed'),
  );
  const plans = createAccountPlans(secrets, settings.fetchUrls);
  const retryUses = createRetryUses({
    capacity: settings.retryLogBytesMax,
    destinationsOf: (accountId) => plans.destinationsOf(accountId),
    accountOf: (destinationId) => plans.accountOf(destinationId),
  });
  const costBudget = new CostBudget({ unitsPerMs: settings.accountWorkPerMs, unitsAtOnce: settings.roundWorkMax });
  const erasures = followErasures({
    connection,
    onError: (error) => logger.warn({ err: error }, 'reading erasures failed; sending is paused until it succeeds'),
  });
  const outcomes = createOutcomeRecorder({ pool, ...settings.recent.outcomes });
  return {
    connection,
    pool,
    outcomes,
    erasures,
    regions,
    health,
    positions,
    visitors: createVisitorStore(pool, {
      cacheBytesMax: settings.visitorCacheBytesMax,
      trustedMs: memoryTrustedMs,
      propertiesBytesMax: settings.visitorBytesMax,
    }),
    plans,
    retryUses,
    retryUse: () => retryUses.current,
    sourceActivity,
    timings: createDeliveryTimings(),
    roundBudgets: new RoundBudgets(settings.roundWorkMax, costBudget),
    costBudget,
    frameQuotas: new FrameQuotas(settings.framesBytesMax),
    openedFrames: new OpenedFrames({ bytesMax: settings.openedFramesBytesMax }),
    referencedEvents: new ReferencedEvents(settings.openedFramesBytesMax),
    createSender: (accountId) => senders.create(accountId),
    async close(deadlineMs) {
      const ending = [erasures.stop(), sourceActivity.stop(), outcomes.close(deadlineMs / 2)];
      await withDeadline(Promise.allSettled(ending), deadlineMs / 2);
      await withDeadline(Promise.allSettled([connection.close(deadlineMs / 2), pool.end()]), deadlineMs / 2);
    },
  };
}
