import { allBackpressure, decodeBackpressure } from '../../shared/contracts/backpressure.ts';
import type { BackpressureReport } from '../../shared/contracts/backpressure.ts';
import { leaseTtlMs } from '../../shared/contracts/process-report.ts';
import { resolverConsumer } from '../../shared/contracts/subjects.ts';
import type { Bucket } from '../../shared/nats/buckets/bucket.ts';
import { followLeases } from '../../shared/nats/buckets/follow-leases.ts';
import type { FollowedLeases } from '../../shared/nats/buckets/follow-leases.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { isNotPermitted } from '../../shared/nats/connection/server-error.ts';
import { readConsumerProgress, readStreamState } from '../../shared/nats/streams/stream-progress.ts';
import type { StreamState } from '../../shared/nats/streams/stream-progress.ts';
import { streams } from '../../shared/nats/streams/topology.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { every } from '../../shared/runtime/every.ts';
import type { QuotaSettings } from '../../shared/limits/index.ts';
import { tooMuchWaits, waitsTooLong } from '../http/reply.ts';
import { overIngestQuota } from './ingest-quota.ts';
import type { AccountIntake } from './published-sources.ts';
import type { IngestLook, ResolverProgress, WaitingBytes } from './waiting-bytes.ts';

const lookEveryMs = 1_000;
/** Without a successful check of INGEST for this long, the last known state refuses no account. */
const unseenMaxMs = 30_000;
/** INGEST is checked sooner once this fraction of its size was stored since the last check. */
const grownFraction = 1 / 128;

/** Refuses accounts whose events wait for too long, or use too much of INGEST. */
export type Backpressure = {
  /** Accounts refused now. */
  readonly accounts: number;
  stop(): void;
};

export type BackpressureOptions = {
  /** The bucket of leases, where pipelines report events that wait too long. */
  readonly bucket: Bucket;
  readonly connection: LogConnection;
  readonly intakes: () => Iterable<AccountIntake>;
  /** Bytes that this gateway has stored. */
  readonly waiting: WaitingBytes;
  /** Configured size of INGEST, used until the first check, in bytes. */
  readonly ingestBytesMax: number;
  readonly quotas: QuotaSettings;
  readonly logger: Pick<Logger, 'warn'>;
};

/** Follows the reports and INGEST, and sets the answer for the sources of each refused account. */
export async function followBackpressure(options: BackpressureOptions): Promise<Backpressure> {
  const { bucket, connection, intakes, waiting, ingestBytesMax, quotas, logger } = options;
  /** Use of INGEST at the last check. */
  let seen = { bytes: 0, capacity: ingestBytesMax };
  let unseenSinceMs = Infinity;
  let looking: Promise<void> | undefined;
  let overQuota: ReadonlySet<string> = new Set();
  let accounts = 0;
  let heard: FollowedLeases | undefined;
  let queued: ReadonlyMap<string, number> = new Map();
  const judge = (): void => {
    const nowMs = performance.now();
    // A report that is not repeated comes from a pipeline that has ended.
    heard?.forgetBefore(nowMs - leaseTtlMs);
    const reports = [...(heard?.entries.values() ?? [])].flatMap(({ value }) => decodeBackpressure(value) ?? []);
    const used = seen.bytes + waiting.sinceBytes;
    queued = queuedBytes(reports);
    const byAccount = waiting.all(used, queued);
    const isKnown = nowMs - unseenSinceMs < unseenMaxMs;
    const use = { used, capacity: seen.capacity, byAccount };
    overQuota = isKnown ? overIngestQuota(use, quotas, overQuota) : new Set();
    const held = heldBack(reports, byAccount);
    accounts = 0;
    for (const intake of intakes()) {
      const ageMs = held.get(intake.accountId);
      const isOver = overQuota.has(intake.accountId);
      intake.refusal = ageMs === undefined ? (isOver ? tooMuchWaits : undefined) : waitsTooLong(ageMs);
      if (intake.refusal !== undefined) accounts += 1;
    }
  };
  let areResolversRead = true;
  /** Reads the positions of resolvers. If this fails, the log's first sequence is used in place of their positions. */
  const readResolvers = async (partitions: readonly number[]): Promise<IngestLook<StreamState>['resolvers']> => {
    const resolvers = new Map<number, ResolverProgress>();
    try {
      const readOne = async (partition: number): Promise<void> => {
        const progress = await readConsumerProgress(connection, streams.ingest, resolverConsumer(partition));
        if (progress !== undefined) resolvers.set(partition, progress);
      };
      await Promise.all(partitions.map(readOne));
      areResolversRead = true;
    } catch (error) {
      if (areResolversRead && connection.connected)
        logger.warn({ err: error }, 'reading the progress of resolvers failed');
      areResolversRead = false;
    }
    return resolvers;
  };
  const readIngest = async (partitions: readonly number[]): Promise<IngestLook<StreamState>> => {
    const state = await readStreamState(connection, streams.ingest);
    return { state, resolvers: await readResolvers(partitions) };
  };
  const lookNow = async (): Promise<void> => {
    try {
      const { bytes, bytesMax = Infinity } = await waiting.look(readIngest);
      seen = { bytes, capacity: bytesMax };
      unseenSinceMs = Infinity;
    } catch (error) {
      unseenSinceMs = Math.min(unseenSinceMs, performance.now());
      if (connection.connected) logger.warn({ err: error }, 'reading the size of INGEST failed');
    }
    looking = undefined;
    judge();
  };
  const look = (): Promise<void> => (looking ??= lookNow());
  try {
    heard = await followLeases({
      bucket,
      connection,
      filter: allBackpressure,
      onChanged: judge,
      onError: (error) => logger.warn({ err: error }, 'following backpressure failed'),
    });
  } catch (error) {
    // A server with the users of an earlier version does not permit reading the reports of pipelines.
    if (!isNotPermitted(error)) throw error;
    logger.warn({ err: error }, 'backpressure is not followed: the user in NATS_USER may not read the LEASES bucket');
  }
  await look();
  waiting.onGrown(ingestBytesMax * grownFraction, () => {
    judge();
    void look();
  });
  const looks = every(lookEveryMs, () => (waiting.isEmpty && queued.size === 0 ? judge() : look()));
  return {
    get accounts() {
      return accounts;
    },
    stop() {
      void looks.stop();
      heard?.stop();
    },
  };
}

/**
 * The accounts to hold back, each with the wait of its oldest event, in ms. Pipelines name the accounts with a late
 * destination. If the resolver is late, the events of all accounts wait: the accounts with the most bytes in INGEST are
 * held back, so that the others together have at most half of the bytes. The later the resolver is, the smaller is this
 * fraction. Pure.
 */
export function heldBack(
  reports: readonly BackpressureReport[],
  waiting: ReadonlyMap<string, number>,
): Map<string, number> {
  const held = new Map<string, number>();
  for (const [accountId, ageMs] of reports.flatMap(({ accounts }) => accounts)) {
    held.set(accountId, Math.max(held.get(accountId) ?? 0, ageMs));
  }
  const resolve = longestResolve(reports);
  if (resolve === undefined) return held;
  let others = 0;
  for (const bytes of waiting.values()) others += bytes;
  const othersMax = (others / 2) * Math.min(1, resolve.ageMaxMs / resolve.ageMs);
  for (const [accountId, bytes] of [...waiting].toSorted(([, a], [, b]) => b - a)) {
    if (others <= othersMax || bytes === 0) break;
    held.set(accountId, Math.max(held.get(accountId) ?? 0, resolve.ageMs));
    others -= bytes;
  }
  return held;
}

/** Bytes in the queues of accounts: each pipeline reports the queues of the partitions that it resolves. Pure. */
export function queuedBytes(reports: readonly BackpressureReport[]): Map<string, number> {
  const queued = new Map<string, number>();
  for (const [accountId, bytes] of reports.flatMap(({ queued: ofReport = [] }) => ofReport)) {
    queued.set(accountId, (queued.get(accountId) ?? 0) + bytes);
  }
  return queued;
}

function longestResolve(reports: readonly BackpressureReport[]): BackpressureReport['resolve'] {
  return reports.flatMap(({ resolve }) => resolve ?? []).toSorted((a, b) => b.ageMs - a.ageMs)[0];
}
