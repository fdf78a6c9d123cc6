import type { Storage } from '../../shared/postgres/open-storage.ts';
import { count, flag } from '../../shared/runtime/variables.ts';
import type { ProcessReport } from '../../shared/contracts/process-report.ts';
import { decodeReport, leaseTtlMs } from '../../shared/contracts/process-report.ts';
import { defineService } from '../api/services.ts';
import type { LogBuckets } from './log-buckets.ts';
import { publishedRevision } from './outbox.ts';
import type { BucketCache, CachedEntry } from './bucket-cache.ts';
import { createBucketCache } from './bucket-cache.ts';

const mebibyte = 1024 ** 2;

export const publishingEnv = {
  PUBLISH_GUARDS_BACKLOGS: flag(
    'Whether a version that removes or disables a destination for which events wait is refused with 409 unless `force` ' +
      'is sent. Off, it is published and the answer says what was left unsent',
    true,
  ),
  PUBLISH_BACKLOG_AGE_MS: count(
    'How long the oldest event must have waited for that; anything that is retried counts as well. Of a destination ' +
      'that is sent to all the time, something is always on its way',
    5_000,
    { unit: 'ms', minimum: 0 },
  ),
  CONFIG_BYTES_MAX: count(
    "The largest configuration of one account that may be published; the log's own limit holds as well",
    8 * mebibyte,
    { unit: 'bytes', minimum: 1024 },
  ),
  CONFIG_PUSH_BYTES_PER_S: count(
    'What may be written to the log of the configuration of one account a second; what is published faster is written together',
    4 * mebibyte,
    { unit: 'bytes' },
  ),
};

/** Where a publish waits until it is live, and learns how large it may be. */
export type PublishingService = {
  /** The largest document the CONFIG bucket takes, in bytes. */
  documentBytesMax(): number;
  /** Returns true once every live process runs what the outbox row announced, or false after the deadline, 2 seconds by default. */
  whenApplied(outboxId: number, deadlineMs?: number): Promise<boolean>;
};

export const publishing = defineService<PublishingService>('publishing');

export type PublishingServiceOptions = {
  readonly storage: Storage;
  readonly logBuckets: LogBuckets;
  readonly leases: LeaseCache;
  /** A limit below the server's own, in bytes. */
  readonly documentBytesMax: number;
  wake(): void;
};

const usualDeadlineMs = 2_000;
const pollMs = 15;
// Room for the subject and headers of the message that carries a document.
const marginBytes = 4_096;

export function createPublishingService(options: PublishingServiceOptions): PublishingService {
  const { storage, logBuckets, leases } = options;
  return {
    documentBytesMax() {
      return Math.min(options.documentBytesMax, logBuckets.connection.messageBytesMax - marginBytes);
    },
    async whenApplied(outboxId, deadlineMs = usualDeadlineMs) {
      options.wake();
      const giveUpAtMs = performance.now() + deadlineMs;
      let revision: number | undefined;
      while (performance.now() < giveUpAtMs) {
        revision ??= await publishedRevision(storage.fork(), outboxId);
        if (revision !== undefined && processesBehind(leases.entries, revision, performance.now()).length === 0)
          return true;
        await new Promise((resolve) => setTimeout(resolve, pollMs));
      }
      return false;
    },
  };
}

export type LeaseCache = BucketCache<ProcessReport>;

export const leases = defineService<LeaseCache>('leases');

/** What the gateways and pipelines alive report of themselves. */
export function createLeaseCache(): LeaseCache {
  return createBucketCache('>', decodeReport);
}

/** Processes that hold a lease and do not run `revision` yet. */
function processesBehind(
  entries: ReadonlyMap<string, CachedEntry<ProcessReport>>,
  revision: number,
  nowMs: number,
): string[] {
  return [...entries]
    .filter(([, { value, receivedAtMs }]) => nowMs - receivedAtMs < leaseTtlMs && value.revision < revision)
    .map(([key]) => key);
}
