import { gatewayCollections } from '../../shared/collections/gateway-collections.ts';
import { readLiveCollections } from '../../shared/collections/read-live-collections.ts';
import type { UnreadableEntities } from '../../shared/collections/unreadable-entities.ts';
import type { ConfigTrust } from '../../shared/contracts/config/signed-config.ts';
import { countKeys } from '../../shared/nats/buckets/bucket.ts';
import { followConfig } from '../../shared/nats/buckets/config-feed.ts';
import type { ConfigFeed } from '../../shared/nats/buckets/config-feed.ts';
import type { ProcessLease } from '../../shared/nats/buckets/process-lease.ts';
import { openGatewayBuckets, openGatewayConfig } from '../../shared/nats/buckets/open-buckets.ts';
import type { Bucket } from '../../shared/nats/buckets/bucket.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { isNotPermitted } from '../../shared/nats/connection/server-error.ts';
import { buckets } from '../../shared/nats/streams/topology.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { PublishedSources } from './published-sources.ts';

/** The published sources as this gateway has them now. */
export type SourceFeed = {
  /** Revision of the configuration in force; 0 before the first. */
  readonly revision: number;
  /** Whether all that was published at the start has been read. */
  readonly ready: boolean;
  /** See ConfigFeed. */
  readonly untrusted: number;
  readonly trusted: number;
  /** Number of accounts that have published, but whose configuration gateways do not have yet. */
  missing(): Promise<number>;
  /** Reads everything again, as the buckets may have been recreated; the configuration in force stays until then. */
  restart(): Promise<void>;
  stop(): void;
};

export type PublishedFrom = {
  readonly connection: LogConnection;
  readonly replicas: number;
  readonly trust: ConfigTrust;
};

/**
 * Keeps `sources` up to date with the published configuration, and reports each revision in force. A gateway reads
 * GATEWAY_CONFIG. If its NATS user may read CONFIG, it reads CONFIG instead, because the server then has the users of
 * an earlier version, and the control plane that publishes may be of that version too.
 */
export async function followSources(
  { connection, replicas, trust }: PublishedFrom,
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
    // At the start every account arrives at once; one report covers all.
    setImmediate(() => {
      reporting = false;
      lease.report(revision);
    });
  };
  const followBucket = (of: 'config' | 'gatewayConfig', bucket: Bucket): Promise<ConfigFeed> =>
    followConfig(bucket, {
      of,
      trust,
      read: (config) => readLiveCollections(config, gatewayCollections),
      apply(change) {
        sources.apply(change);
        unreadable.note(change);
        // A recreated bucket starts at revision 1 again.
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
  let ofGateways = false;
  const follow = async (): Promise<ConfigFeed> => {
    const { config } = await openGatewayBuckets(connection, replicas);
    try {
      const whole = await followBucket('config', config);
      ofGateways = false;
      return whole;
    } catch (error) {
      if (!isNotPermitted(error)) throw error;
    }
    const own = await followBucket('gatewayConfig', await openGatewayConfig(connection, replicas));
    ofGateways = true;
    return own;
  };
  let feed = await follow();
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
    async missing() {
      if (!ofGateways) return 0;
      const published = await countKeys(connection, buckets.config, 'account.*');
      return Math.max(0, published - feed.trusted - feed.untrusted);
    },
    async restart() {
      const previous = feed;
      feed = await follow();
      previous.stop();
    },
    stop: () => feed.stop(),
  };
}
