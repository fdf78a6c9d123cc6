import { withDeadline } from '../shared/runtime/deadline.ts';
import type { Scope } from '../shared/runtime/scope.ts';
import type { PipelineEnv } from './env.ts';
import { activityHoursKept } from '../shared/contracts/activity-settings.ts';
import { watchBacklog } from './jobs/backlog/backlog-watch.ts';
import { tellBackpressure } from './jobs/backlog/backpressure.ts';
import type { DestinationWait } from './jobs/backlog/backpressure.ts';
import { readBackpressureSettings } from './jobs/backlog/backpressure-settings.ts';
import { createResolveLag } from './jobs/backlog/resolve-lag.ts';
import { tellWork } from './status/tell-work.ts';
import type { StatsLedger } from './supervisor/stats-ledger.ts';
import { stepMs } from './end-process.ts';
import type { BacklogWatch } from './jobs/backlog/backlog-watch.ts';
import type { JobParts } from './start-jobs.ts';

/**
 * Watches backlogs. Reports accounts under backpressure to gateways, and the actors that run here to control planes.
 */
export function startReports(env: PipelineEnv, { log, actors, logger }: JobParts, scope: Scope): BacklogWatch {
  const { connection, buckets, instance } = log;
  const { instanceId } = instance;
  const { accounts, membership, stats, supervisor } = actors;
  const backpressureSettings = readBackpressureSettings(env);
  const backlog = watchBacklog({
    connection,
    logger,
    everyMs: backpressureSettings.backlogEveryMs,
    owns: () => membership.owns('backlog'),
    framesRead: () => stats.framesRead(),
    resolveLag: createResolveLag({ bucket: buckets.health, instanceId, hoursKept: activityHoursKept }),
  });
  scope.use('backlog', backlog, (one) => withDeadline(one.stop(), stepMs));
  const backpressure = tellBackpressure({
    bucket: buckets.leases,
    instanceId,
    settings: backpressureSettings,
    waits: () => destinationWaits(stats),
    resolveLagMs: () => backlog.resolveLagMs,
    queuedBytes: () => stats.accountValues('resolver', 'queue_bytes'),
    accountOf: (destinationId) => accounts.accountOf(destinationId),
    onError: (error) => logger.warn({ err: error }, 'reporting backpressure to gateways failed'),
  });
  scope.use('backpressure', backpressure, (one) => withDeadline(one.stop(), stepMs));
  const work = tellWork({
    bucket: buckets.leases,
    instanceId,
    placed: () => supervisor.placed,
    threads: () => stats.threads,
    readyThreads: () => supervisor.readyThreads,
    onError: (error) => logger.warn({ err: error }, 'reporting placement failed'),
  });
  scope.use('work', work, (one) => withDeadline(one.stop(), stepMs));
  return backlog;
}

/** Gauges of a dispatcher: if one of them is 1, no new event can be sent to the destination. */
const shutGauges = ['breaker_open', 'access_refused', 'misconfigured', 'order_paused', 'retry_share_full'] as const;

/**
 * How long events have waited for the destinations that this instance delivers to; unknown for those that cannot be
 * reached.
 */
function destinationWaits(stats: Pick<StatsLedger, 'values'>): DestinationWait[] {
  const shut = shutGauges.map((gauge) => stats.values('dispatcher', gauge));
  return [...stats.values('dispatcher', 'undelivered_age_seconds')].map(([destinationId, ageS]) => ({
    destinationId,
    ageMs: shut.some((gauge) => gauge.get(destinationId) === 1) ? undefined : ageS * 1_000,
  }));
}
