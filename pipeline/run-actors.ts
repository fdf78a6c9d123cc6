import type { Piscina } from 'piscina';
import { holdProcessLease } from '../shared/nats/buckets/process-lease.ts';
import { awaitTrusted } from '../shared/nats/buckets/config-feed.ts';
import { withDeadline } from '../shared/runtime/deadline.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import type { Scope } from '../shared/runtime/scope.ts';
import { firstStepMs } from '../shared/runtime/service-settings.ts';
import type { PipelineEnv } from './env.ts';
import { readMembershipTimes } from './cluster/membership-settings.ts';
import { readHostSettings } from './threads/host-settings.ts';
import { createUnreadableEntities } from '../shared/collections/unreadable-entities.ts';
import { followAccounts } from './cluster/follow-accounts.ts';
import type { FollowedAccounts } from './cluster/follow-accounts.ts';
import type { readPoolSettings } from './supervisor/pool-settings.ts';
import { Retirement } from './cluster/retire-actors.ts';
import { shareActors } from './cluster/share-actors.ts';
import { createStatsLedger } from './supervisor/stats-ledger.ts';
import type { StatsLedger } from './supervisor/stats-ledger.ts';
import { Supervisor } from './supervisor/supervisor.ts';
import { handOver, stepMs } from './end-process.ts';
import type { OpenedLog } from './open-log.ts';
import type { Placement } from './cluster/placement.ts';
import type { Membership } from './cluster/membership.ts';
import type { UnreadableEntities } from '../shared/collections/unreadable-entities.ts';

/** Part of the shutdown deadline that is reserved for the steps after the actors have stopped, in ms. */
const closingMs = 3_000;

export type ActorParts = {
  readonly log: OpenedLog;
  readonly pool: Piscina;
  readonly poolSettings: ReturnType<typeof readPoolSettings>;
  readonly logger: Logger;
};

/** The parts that run this instance's actors and divide them among instances. */
export type RunningActors = {
  readonly stats: StatsLedger;
  readonly supervisor: Supervisor;
  readonly placement: Placement;
  readonly membership: Membership;
  readonly retirement: Retirement;
  readonly accounts: FollowedAccounts;
  readonly unreadable: UnreadableEntities;
};

/** Starts the supervisor, joins the other instances and follows the accounts. */
export async function runActors(
  env: PipelineEnv,
  { log, pool, poolSettings, logger }: ActorParts,
  scope: Scope,
): Promise<RunningActors> {
  const { connection, buckets, instance, holder, trust } = log;
  const { instanceId } = instance;
  const times = readMembershipTimes(env);
  const lease = holdProcessLease(
    buckets.leases,
    { ...instance, holder },
    (error) => logger.warn({ err: error }, 'renewing the lease failed'),
    times.renewEveryMs,
  );
  scope.use('lease', lease, (one) => withDeadline(one.release(), stepMs), handOver);

  const stats = createStatsLedger();
  const supervisor = startSupervisor(env, { log, pool, poolSettings, logger }, stats, scope);
  // From here on other instances know that this one exists.
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
  // Resolvers need the configuration, which decides to which destinations an event goes.
  await awaitTrusted(accounts);
  return { stats, supervisor, placement, membership, retirement, accounts, unreadable };
}

function startSupervisor(
  env: PipelineEnv,
  { log, pool, poolSettings, logger }: ActorParts,
  stats: StatsLedger,
  scope: Scope,
): Supervisor {
  const { threads } = poolSettings;
  const settings = readHostSettings(env, { instanceId: log.instance.instanceId, partitions: log.partitions });
  const supervisor = new Supervisor({
    pool,
    threads,
    settings,
    stats,
    logger,
    stopDeadlineMs: readMembershipTimes(env).handOverMs,
    silenceMaxMs: poolSettings.silenceMaxMs,
  });
  scope.use('actors', supervisor, (one) => one.stop(firstStepMs(env, closingMs)), handOver);
  supervisor.start();
  return supervisor;
}
