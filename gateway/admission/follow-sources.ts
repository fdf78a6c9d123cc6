import { followConfig } from '../../shared/config/config-feed.ts';
import type { ConfigFeed } from '../../shared/config/config-feed.ts';
import type { ProcessLease } from '../../shared/config/process-lease.ts';
import type { Bucket } from '../../shared/log/bucket.ts';
import type { Logger } from '../../shared/process/logger.ts';
import type { PublishedSources } from './published-sources.ts';

/** Keeps `sources` at what is published, and tells of each revision that is in force. */
export async function followSources(
  bucket: Bucket,
  sources: PublishedSources,
  lease: ProcessLease,
  logger: Logger,
): Promise<ConfigFeed> {
  let newest = 0;
  let reporting = false;
  const reportSoon = (): void => {
    if (reporting) return;
    reporting = true;
    // At the start every account arrives at once; one report says it for all.
    setImmediate(() => {
      reporting = false;
      lease.report(newest);
    });
  };
  return followConfig(bucket, {
    apply(change) {
      sources.apply(change);
      newest = Math.max(newest, change.revision);
      reportSoon();
    },
    onRejected(accountId, revision, reason) {
      logger.error({ accountId, revision, reason }, 'configuration rejected; the one before stays in force');
    },
  });
}
