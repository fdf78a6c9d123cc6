import type { Storage } from '../../shared/postgres/open-storage.ts';
import type { ProcessReport } from '../../shared/contracts/process-report.ts';
import { decodeReport, leaseTtlMs } from '../../shared/contracts/process-report.ts';
import { defineService } from '../api/services.ts';
import type { LogBuckets } from './log-buckets.ts';
import { publishedRevision } from './outbox.ts';
import type { BucketCache, CachedEntry } from './bucket-cache.ts';
import { createBucketCache } from './bucket-cache.ts';

/** Waits until a publish is live, and returns the maximum size of a configuration. */
export type PublishingService = {
  /** The largest document that the CONFIG bucket accepts, in bytes. */
  documentBytesMax(): number;
  /**
   * Returns true once every live process runs the change of the outbox row, or false after the deadline, 2 seconds by
   * default.
   */
  whenApplied(outboxId: number, deadlineMs?: number): Promise<boolean>;
};

export const publishing = defineService<PublishingService>('publishing');

export type PublishingServiceOptions = {
  readonly storage: Storage;
  readonly logBuckets: { readonly connection: Pick<LogBuckets['connection'], 'messageBytesMax'> };
  readonly leases: Pick<LeaseCache, 'entries'>;
  /** Configured limit, in bytes; the server's own limit applies if it is lower. */
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

/** The reports of the live gateways and pipelines about themselves. */
export function createLeaseCache(): LeaseCache {
  return createBucketCache('>', decodeReport);
}

/** Processes that have a lease and do not run `revision` yet. */
function processesBehind(
  entries: ReadonlyMap<string, CachedEntry<ProcessReport>>,
  revision: number,
  nowMs: number,
): string[] {
  return [...entries]
    .filter(([, { value, receivedAtMs }]) => nowMs - receivedAtMs < leaseTtlMs && value.revision < revision)
    .map(([key]) => key);
}
