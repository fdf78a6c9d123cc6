import { consentSettings } from '../../shared/collections/consent-settings.ts';
import { replaySettings } from '../../shared/collections/replay-settings.ts';
import {
  tagManagerTags,
  tagManagerTriggers,
  tagManagerVariables,
  tagManagers,
} from '../../shared/collections/tag-managers.ts';
import { readLiveCollections } from '../../shared/collections/read-live-collections.ts';
import { sources as sourcesCollection } from '../../shared/collections/sources.ts';
import type { UnreadableEntities } from '../../shared/collections/unreadable-entities.ts';
import type { ConfigTrust } from '../../shared/contracts/config/signed-config.ts';
import { followConfig } from '../../shared/nats/buckets/config-feed.ts';
import type { ConfigFeed } from '../../shared/nats/buckets/config-feed.ts';
import type { ProcessLease } from '../../shared/nats/buckets/process-lease.ts';
import type { Bucket } from '../../shared/nats/buckets/bucket.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { PublishedSources } from './published-sources.ts';

const gatewayCollections = [
  sourcesCollection,
  consentSettings,
  replaySettings,
  tagManagers,
  tagManagerTags,
  tagManagerTriggers,
  tagManagerVariables,
] as const;

/** The published sources as this gateway has them now. */
export type SourceFeed = {
  /** Revision of the configuration in force; 0 before the first. */
  readonly revision: number;
  /** Whether all that was published at the start has been read. */
  readonly ready: boolean;
  /** As in ConfigFeed. */
  readonly untrusted: number;
  readonly trusted: number;
  /** Reads everything again, from a bucket that may have been recreated; what is in force stays until then. */
  restart(bucket: Bucket): Promise<void>;
  stop(): void;
};

/** Keeps `sources` at what is published, and tells of each revision that is in force. */
export async function followSources(
  { bucket, trust }: { readonly bucket: Bucket; readonly trust: ConfigTrust },
  sources: PublishedSources,
  lease: ProcessLease,
  unreadable: Pick<UnreadableEntities, 'note'>,
  logger: Logger,
): Promise<SourceFeed> {
  let revision = 0;
  let reporting = false;
  const reportSoon = (): void => {
    if (reporting) return;
    reporting = true;
    // At the start every account arrives at once; one report says it for all.
    setImmediate(() => {
      reporting = false;
      lease.report(revision);
    });
  };
  const follow = (from: Bucket): Promise<ConfigFeed> =>
    followConfig(from, {
      trust,
      read: (config) => readLiveCollections(config, gatewayCollections),
      apply(change) {
        sources.apply(change);
        unreadable.note(change);
        // A recreated bucket counts from 1 again.
        revision = change.upTo;
        reportSoon();
      },
      onRejected(accountId, rejected, reason) {
        logger.error(
          { accountId, revision: rejected, reason },
          'configuration rejected; the previous one stays in force',
        );
      },
    });
  let feed = await follow(bucket);
  let wasReady = false;
  return {
    get revision() {
      return revision;
    },
    get ready() {
      wasReady ||= feed.ready;
      return wasReady;
    },
    get untrusted() {
      return feed.untrusted;
    },
    get trusted() {
      return feed.trusted;
    },
    async restart(from) {
      const previous = feed;
      feed = await follow(from);
      previous.stop();
    },
    stop: () => feed.stop(),
  };
}
