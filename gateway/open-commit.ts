import { randomBytes } from 'node:crypto';
import { createFramePublisher } from '../shared/nats/publish/frame-publisher.ts';
import { CrowdPace } from './commit/crowd-pace.ts';
import { BucketCounts } from '../shared/runtime/metrics/bucket-counts.ts';
import type { Scope } from '../shared/runtime/scope.ts';
import { WaitingBytes } from './ingest/waiting-bytes.ts';
import type { GatewayEnv } from './env.ts';
import { readCommitSettings } from './commit/commit-settings.ts';
import { GroupCommit } from './commit/group-commit.ts';
import { LogGate } from './commit/log-gate.ts';
import { createStoreFrame } from './commit/store-frame.ts';
import { gatewayMetrics } from './status/metrics.ts';
import type { OpenedLog } from './open-log.ts';

/** The group commit, with the parts that metrics and the canary read. */
export type OpenedCommit = {
  readonly commit: GroupCommit;
  readonly committing: ReturnType<typeof readCommitSettings>;
  readonly gate: LogGate;
  readonly pace: CrowdPace;
  readonly publishTimes: BucketCounts;
  readonly waiting: WaitingBytes;
  readonly writerId: string;
};

/** Stores events of many requests in one frame for each partition. */
export function openCommit(
  env: GatewayEnv,
  { connection, partitions, instance }: OpenedLog,
  scope: Scope,
): OpenedCommit {
  const { messageBytesMax } = connection;
  // Random, so that the log never mistakes new frames for repeats of an earlier process with this instance id.
  const writerId = `${instance.instanceId}-${randomBytes(6).toString('hex')}`;
  const committing = readCommitSettings(env, { partitions, replicas: env.LOG_REPLICAS, messageBytesMax });
  const publishTimes = new BucketCounts(gatewayMetrics.publishDuration.bounds);
  const gate = new LogGate(() => connection.connected);
  const storeSettings = { writerId, timeoutMs: committing.publishTimeoutMs };
  const publisher = createFramePublisher(connection);
  const store = createStoreFrame(publisher, storeSettings, (seconds) => publishTimes.observe(seconds));
  const pace = new CrowdPace(committing.rounds);
  const waiting = new WaitingBytes();
  const commit = new GroupCommit(committing, pace, gate, store, (partition, accountId, bytes) =>
    waiting.add(partition, accountId, bytes),
  );
  scope.use('frames', commit, (one) => one.stop());
  return { commit, committing, gate, pace, publishTimes, waiting, writerId };
}
