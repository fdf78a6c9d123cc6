import type { Piscina } from 'piscina';
import type { Bucket } from '../shared/nats/buckets/bucket.ts';
import { decodePosition, positionKey } from '../shared/contracts/destination-position.ts';
import { claimInstanceId, watchInstanceId } from '../shared/nats/buckets/instance-claim.ts';
import { holdProcessLease } from '../shared/nats/buckets/process-lease.ts';
import { checkAtStart } from '../shared/doctor/check-at-start.ts';
import { afterReconnect } from '../shared/nats/connection/after-reconnect.ts';
import { connectLog } from '../shared/nats/connection/connection.ts';
import { logAccess } from '../shared/nats/connection/log-access.ts';
import { awaitTrusted } from '../shared/nats/buckets/config-feed.ts';
import { openPipelineBuckets, openLeases } from '../shared/nats/buckets/open-buckets.ts';
import { ForeignLogError, ensureTopology, refuseFewerCopies } from '../shared/nats/streams/topology.ts';
import { readTopologySettings } from '../shared/nats/streams/topology-settings.ts';
import { watchLogServers } from '../shared/nats/monitor/watch-log-servers.ts';
import { withDeadline } from '../shared/runtime/deadline.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import { serveStatus } from '../shared/runtime/status/serve-status.ts';
import type { ReadyCheck } from '../shared/runtime/status/serve-status.ts';
import type { Scope } from '../shared/runtime/scope.ts';
import { logJump, watchClock } from '../shared/runtime/watch-clock.ts';
import { every } from '../shared/runtime/every.ts';
import { databaseAccess } from '../shared/postgres/database-access.ts';
import { awaitDeploymentId, readDeploymentId } from '../shared/postgres/deployment-id.ts';
import { createConfigTrust } from '../shared/contracts/config/signed-config.ts';
import { instanceIdOf } from './env.ts';
import type { PipelineEnv } from './env.ts';
import { activityHoursKept } from '../shared/contracts/activity-settings.ts';
import { readMembershipTimes } from './cluster/membership-settings.ts';
import { readHostSettings } from './threads/host-settings.ts';
import { watchBacklog } from './jobs/backlog/backlog-watch.ts';
import { tellBackpressure } from './jobs/backlog/backpressure.ts';
import type { DestinationWait } from './jobs/backlog/backpressure.ts';
import { readBackpressureSettings } from './jobs/backlog/backpressure-settings.ts';
import { createResolveLag } from './jobs/backlog/resolve-lag.ts';
import { showMetrics } from './status/show-metrics.ts';
import { metricsDestinationsMax } from './status/status-settings.ts';
import { tellWork } from './status/tell-work.ts';
import { checkGeoDatabase } from './workers/dispatch/geo-regions.ts';
import { followErasures } from '../shared/nats/erasures/follow-erasures.ts';
import { startReplayRunner } from './jobs/replay/replay-runner.ts';
import { readRetentionSettings } from './jobs/retention/retention-settings.ts';
import { createDeadLetterQuota, createQuarantineQuota } from './jobs/retention/dead-letter-quota.ts';
import { startRetention } from './jobs/retention/retention.ts';
import type { WaitingReaders } from './jobs/retention/retention.ts';
import { readQuotaSettings } from '../shared/limits/index.ts';
import { createUnreadableEntities } from '../shared/collections/unreadable-entities.ts';
import { followAccounts } from './cluster/follow-accounts.ts';
import type { FollowedAccounts } from './cluster/follow-accounts.ts';
import { readPoolSettings } from './supervisor/pool-settings.ts';
import { actorIdOf, logActors, workerOf } from './workers/registry.ts';
import { createPool } from './supervisor/pool.ts';
import { Retirement, removeRetiredConsumers } from './cluster/retire-actors.ts';
import { shareActors } from './cluster/share-actors.ts';
import { createStatsLedger } from './supervisor/stats-ledger.ts';
import type { StatsLedger } from './supervisor/stats-ledger.ts';
import { Supervisor } from './supervisor/supervisor.ts';

/** Part of the stop deadline that is left for what comes behind the actors' own deadline, in ms. */
const closingMs = 3_000;
/** What one step of closing may take, in ms. */
const stepMs = 400;
/** Actors are handed over first, while the rest still works and reports. */
const handOver = { endsBefore: 'status server' } as const;
const forgottenEveryMs = 60_000;
const retirementEveryMs = 10_000;
const deploymentEveryMs = 5_000;

export type RunningPipeline = {
  readonly metricsPort: number;
  readonly supervisor: Supervisor;
  readonly pool: Piscina;
};

/**
 * Builds and starts the pipeline; what it opens ends with `scope`.
 * Large: the composition root, one resource after the other.
 */
export async function startPipeline(env: PipelineEnv, logger: Logger, scope: Scope): Promise<RunningPipeline> {
  const instanceId = instanceIdOf(env);
  const trust = createConfigTrust(env);
  // Threads load their code while the rest begins.
  const poolSettings = readPoolSettings(env);
  const pool = createPool(poolSettings);
  // A thread that dies is reported through its task as well.
  pool.on('error', (error) => logger.warn({ err: error }, 'a pool thread failed'));
  scope.use('threads', pool, (one) => one.destroy());
  await checkGeoDatabase(env.GEOIP_DATABASE);
  const connection = await connectLog({ ...logAccess(env), name: `pipeline-${instanceId}` });
  scope.use('log', connection, (log) => log.close(stepMs));
  void checkAtStart({ connection, monitorUrls: env.NATS_MONITOR_URL, logger });
  await refuseFewerCopies(connection, env.LOG_REPLICAS);
  const instance = { kind: 'pipeline', instanceId } as const;
  const holder = await claimInstanceId(await openLeases(connection, env.LOG_REPLICAS), instance);
  const topology = readTopologySettings(env);
  let deploymentId = await readDeploymentId(databaseAccess(env));
  const { partitions, created } = await ensureTopology(connection, topology, deploymentId);
  if (created.length > 0) logger.info({ streams: created }, 'created missing streams');
  const buckets = await openPipelineBuckets(connection, env.LOG_REPLICAS);
  const claim = watchInstanceId(buckets.leases, instance, holder, () => {
    logger.fatal(
      { instanceId },
      'another process has taken over this INSTANCE_ID: this one was silent for too long and was considered dead',
    );
    // In good order it would give back what the other one holds.
    process.exit(1);
  });
  scope.use('instance id', claim, (one) => one.stop());
  const reopening = afterReconnect(
    connection,
    async () => {
      const found = await ensureTopology(connection, topology, deploymentId);
      await openPipelineBuckets(connection, env.LOG_REPLICAS);
      if (found.created.length > 0)
        logger.error({ streams: found.created }, 'the log came back without some streams; created them again');
      if (found.partitions !== partitions) {
        logger.fatal({ from: partitions, to: found.partitions }, 'the number of partitions of the log has changed');
        await endProcess('partitions changed', scope);
      }
    },
    (error) => logger.warn({ err: error }, 'reopening the log failed'),
  );
  scope.use('reopening', reopening, (one) => one.stop());
  if (deploymentId === undefined) {
    // Without the database everything but new visitors goes on; whose log it is can wait.
    const awaiting = awaitDeploymentId(databaseAccess(env), deploymentEveryMs, (id) => {
      deploymentId = id;
      ensureTopology(connection, topology, id).catch((error: unknown) => endOnForeignLog(error, logger, scope));
    });
    scope.use('deployment', awaiting, (one) => one.stop());
  }

  const times = readMembershipTimes(env);
  const lease = holdProcessLease(
    buckets.leases,
    { ...instance, holder },
    (error) => logger.warn({ err: error }, 'renewing the lease failed'),
    times.renewEveryMs,
  );
  scope.use('lease', lease, (one) => withDeadline(one.release(), stepMs), handOver);

  const stats = createStatsLedger();
  const { threads } = poolSettings;
  const settings = readHostSettings(env, { instanceId, partitions });
  const supervisor = new Supervisor({
    pool,
    threads,
    settings,
    stats,
    logger,
    stopDeadlineMs: times.handOverMs,
    silenceMaxMs: poolSettings.silenceMaxMs,
  });
  const actorsDeadlineMs = Math.max(env.SHUTDOWN_DEADLINE_MS / 2, env.SHUTDOWN_DEADLINE_MS - closingMs);
  scope.use('actors', supervisor, (one) => one.stop(actorsDeadlineMs), handOver);
  supervisor.start();

  // Others know of us from here on.
  lease.report(0);
  const { placement, membership } = await shareActors({
    bucket: buckets.leases,
    connection,
    instanceId,
    times,
    lease,
    supervisor,
    logger,
  });

  const leave = (): void => {
    membership.stop();
    lease.leave();
  };
  scope.use('membership', membership, leave, handOver);

  const retirement = new Retirement({
    connection,
    trust,
    buckets,
    wanted: () => accounts.wanted(),
    owns: (actorId) => membership.owns(actorId),
    hasApplied: (revision) => accounts.isCurrent && accounts.applied >= revision,
    logger,
  });
  const unreadable = createUnreadableEntities(logger);
  const accounts = await followAccounts({
    bucket: buckets.config,
    trust,
    connection,
    supervisor,
    placement,
    unreadable,
    logger,
    onApplied: (revision) => lease.report(revision),
    onDropped: (spec) => retirement.suspect(spec),
  });
  scope.use('configuration', accounts, (one) => one.stop(), handOver);
  // A resolver decides by the configuration which destinations an event is for.
  await awaitTrusted(accounts);
  const erasures = followErasures({
    connection,
    onError: (error) => logger.warn({ err: error }, 'reading erasures failed; replays are paused until it succeeds'),
    isOnDemand: true,
  });
  scope.use('erasures', erasures, (one) => withDeadline(one.stop(), stepMs));
  const replays = await startReplayRunner({
    connection,
    bucket: buckets.replays,
    instanceId,
    erasures,
    logger,
    isLive: (accountId, destinationId) => accounts.delivers(accountId, destinationId),
  });
  scope.use('replays', replays, (one) => withDeadline(one.stop(), stepMs));
  const deadLetterQuota = createDeadLetterQuota(connection, readQuotaSettings(env), (id) => accounts.accountOf(id));
  const quarantineQuota = createQuarantineQuota(connection, readQuotaSettings(env));
  const retention = startRetention({
    connection,
    settings: readRetentionSettings(env),
    readers: waitingReaders(supervisor, accounts, buckets.positions),
    deadLetters: {
      // One instance looks, for all; and before it knows the accounts it would take all letters for ownerless.
      async look() {
        if (!membership.owns('dead letters')) return;
        if (accounts.ready) await deadLetterQuota.look();
        await quarantineQuota.look();
      },
    },
    logger,
  });
  scope.use('retention', retention, (one) => withDeadline(one.stop(), stepMs));
  for (const spec of logActors(partitions)) void placement.want(spec);
  const removeForgotten = async (): Promise<void> => {
    if (!accounts.isCurrent) return;
    await retirement.findForgotten();
    if (!membership.owns('forgotten')) return;
    for (const consumer of await removeRetiredConsumers(connection)) {
      logger.info({ consumer }, 'removed a consumer of an earlier version');
    }
  };
  const forgotten = every(forgottenEveryMs, () =>
    removeForgotten().catch((error: unknown) => logger.warn({ err: error }, 'checking for orphaned consumers failed')),
  );
  const retiring = every(retirementEveryMs, () =>
    retirement.round().catch((error: unknown) => logger.warn({ err: error }, 'retiring actors failed')),
  );
  const stopRetiring = (): void => {
    void forgotten.stop();
    void retiring.stop();
  };
  scope.use('retirement', retirement, stopRetiring, handOver);

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
  const logServers = watchLogServers(env.NATS_MONITOR_URL);
  scope.use('log servers', logServers, (one) => one.stop());
  const clock = watchClock(logJump(logger));
  scope.use('clock', clock, (one) => one.stop());
  const page = showMetrics({
    stats,
    supervisor,
    pool,
    threadsExpected: threads,
    backlog,
    retention,
    deadLetterQuota,
    quarantineQuota,
    connection,
    logServers,
    clock,
    configRevision: () => accounts.applied,
    unreadable,
    destinationsMax: metricsDestinationsMax,
    destinations: () => accounts.destinations(),
  });
  const statusServer = await serveStatus({
    port: env.PIPELINE_METRICS_PORT,
    host: env.METRICS_HOST,
    portVariable: 'PIPELINE_METRICS_PORT',
    page,
    checks: [
      readyWhen('log', () => connection.problem),
      readyWhen('threads', () =>
        supervisor.threadsReady === threads ? undefined : `${supervisor.threadsReady} of ${threads} at work`,
      ),
      readyWhen('configuration', () => (accounts.ready ? undefined : 'not loaded yet')),
      readyWhen('sharing', () =>
        placement.waiting === 0 ? undefined : `${placement.waiting} actors wait for other instances to let go of them`,
      ),
      readyWhen('actors', () => {
        const { starting, waiting } = supervisor.states;
        return starting + waiting === 0 ? undefined : `${starting} starting, ${waiting} waiting`;
      }),
    ],
  });
  scope.use('status server', statusServer, (one) => one.close());

  void connection.closed.then((error) => endWithoutLog(error, logger, scope));
  const { heapMaxMib: threadHeapMib } = poolSettings;
  logger.info({ instanceId, threads, threadHeapMib, partitions, metricsPort: statusServer.port }, 'pipeline started');
  return { metricsPort: statusServer.port, supervisor, pool };
}

/** Dispatchers record what they skip; other readers of EVENTS only count. */
function waitingReaders(
  supervisor: Pick<Supervisor, 'passOver'>,
  accounts: Pick<FollowedAccounts, 'ready' | 'destinationsOf'>,
  positions: Bucket,
): WaitingReaders {
  const { consumer } = workerOf('dispatcher');
  return {
    delivers: (name) => consumer.keyOf(name) !== undefined,
    wanted: (accountId) =>
      accounts.ready ? accounts.destinationsOf(accountId).map((id) => consumer.nameOf(id)) : undefined,
    async oldestReference(accountId) {
      const entries = await Promise.all(accounts.destinationsOf(accountId).map((id) => positions.get(positionKey(id))));
      const found = entries.flatMap((entry) => (entry?.value === undefined ? [] : [decodePosition(entry.value)]));
      const oldest = Math.min(...found.map(({ oldestReference = Infinity }) => oldestReference));
      return Number.isFinite(oldest) ? oldest : undefined;
    },
    passOver(name, upToSeq) {
      const destinationId = consumer.keyOf(name);
      if (destinationId !== undefined) supervisor.passOver(actorIdOf('dispatcher', destinationId), upToSeq);
    },
  };
}

/** What of a dispatcher says that no fresh event of its destination can be sent now. */
const shutGauges = ['breaker_open', 'access_refused', 'misconfigured', 'order_paused', 'retry_share_full'] as const;

/** How long events wait for the destinations of this instance. */
function destinationWaits(stats: Pick<StatsLedger, 'values'>): DestinationWait[] {
  const shut = shutGauges.map((gauge) => stats.values('dispatcher', gauge));
  return [...stats.values('dispatcher', 'undelivered_age_seconds')].map(([destinationId, ageS]) => ({
    destinationId,
    ageMs: shut.some((gauge) => gauge.get(destinationId) === 1) ? undefined : ageS * 1_000,
  }));
}

/** A check that says what is missing, and nothing when nothing is. */
function readyWhen(name: string, missing: () => string | undefined): ReadyCheck {
  return {
    name,
    check: () => {
      const detail = missing();
      return detail === undefined ? { ok: true } : { ok: false, detail };
    },
  };
}

/** A pipeline whose connection is closed for good can do nothing: it ends, and its supervisor restarts it. */
async function endWithoutLog(error: Error | undefined, logger: Logger, scope: Scope): Promise<void> {
  if (scope.ending) return;
  logger.fatal({ err: error }, 'the connection to the log is closed for good');
  await endProcess('log closed', scope);
}

async function endOnForeignLog(error: unknown, logger: Logger, scope: Scope): Promise<void> {
  // Any other failure is one of a log that is away: the next reconnect checks again.
  if (!(error instanceof ForeignLogError) || scope.ending) return;
  logger.fatal({ err: error }, 'the log belongs to another deployment than this database');
  await endProcess('foreign log', scope);
}

/** Ends in good order, with 1: the process manager starts the pipeline again. */
async function endProcess(reason: string, scope: Scope): Promise<void> {
  await scope.end(reason);
  process.exit(1);
}
