import type { Bucket } from '../shared/nats/buckets/bucket.ts';
import { decodePosition, positionKey } from '../shared/contracts/destination-position.ts';
import { withDeadline } from '../shared/runtime/deadline.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import type { Scope } from '../shared/runtime/scope.ts';
import { every } from '../shared/runtime/every.ts';
import type { PipelineEnv } from './env.ts';
import { followErasures } from '../shared/nats/erasures/follow-erasures.ts';
import { startReplayRunner } from './jobs/replay/replay-runner.ts';
import { readRetentionSettings } from './jobs/retention/retention-settings.ts';
import { createDeadLetterQuota, createQuarantineQuota } from './jobs/retention/dead-letter-quota.ts';
import { startRetention } from './jobs/retention/retention.ts';
import type { Retention, WaitingReaders } from './jobs/retention/retention.ts';
import { readQuotaSettings } from '../shared/limits/index.ts';
import type { FollowedAccounts } from './cluster/follow-accounts.ts';
import { actorIdOf, logActors, workerOf } from './workers/registry.ts';
import { removeRetiredConsumers } from './cluster/retire-actors.ts';
import type { Supervisor } from './supervisor/supervisor.ts';
import { handOver, stepMs } from './end-process.ts';
import type { OpenedLog } from './open-log.ts';
import type { RunningActors } from './run-actors.ts';
import type { DeadLetterQuota } from './jobs/retention/dead-letter-quota.ts';

const forgottenEveryMs = 60_000;
const retirementEveryMs = 10_000;

export type JobParts = { readonly log: OpenedLog; readonly actors: RunningActors; readonly logger: Logger };

/** Jobs of this instance, for its metrics. */
export type RunningJobs = {
  readonly retention: Retention;
  readonly deadLetterQuota: DeadLetterQuota;
  readonly quarantineQuota: DeadLetterQuota;
};

/**
 * Starts replays, retention, the actors of each partition, and the retirement of actors that are in no live version.
 */
export async function startJobs(
  env: PipelineEnv,
  { log, actors, logger }: JobParts,
  scope: Scope,
): Promise<RunningJobs> {
  const { connection, buckets, partitions, instance } = log;
  const { instanceId } = instance;
  const { accounts, membership, placement, retirement, supervisor } = actors;
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
  // If the account may be one whose destinations are unknown, the destination counts as an account of its own: its
  // letters are not removed first.
  const accountOf = (id: string): string | undefined =>
    accounts.accountOf(id) ?? (accounts.hasUnknown ? id : undefined);
  const deadLetterQuota = createDeadLetterQuota(connection, readQuotaSettings(env), accountOf);
  const quarantineQuota = createQuarantineQuota(connection, readQuotaSettings(env));
  const retention = startRetention({
    connection,
    settings: readRetentionSettings(env),
    readers: waitingReaders(supervisor, accounts, buckets.positions),
    deadLetters: {
      // One instance checks for all. It skips dead letters before it knows the accounts, because all letters would seem
      // to have no account.
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
  return { retention, deadLetterQuota, quarantineQuota };
}

/**
 * The readers of EVENTS, as retention uses them. Dispatchers record what they skip; the other readers only gather
 * statistics.
 */
function waitingReaders(
  supervisor: Pick<Supervisor, 'passOver'>,
  accounts: Pick<FollowedAccounts, 'destinationsOf'>,
  positions: Bucket,
): WaitingReaders {
  const { consumer } = workerOf('dispatcher');
  return {
    delivers: (name) => consumer.keyOf(name) !== undefined,
    wanted: (accountId) => accounts.destinationsOf(accountId)?.map((id) => consumer.nameOf(id)),
    async oldestReference(accountId) {
      const ids = accounts.destinationsOf(accountId) ?? [];
      const entries = await Promise.all(ids.map((id) => positions.get(positionKey(id))));
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
