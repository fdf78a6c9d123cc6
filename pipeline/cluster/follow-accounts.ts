import type { ConfigTrust } from '../../shared/contracts/config/signed-config.ts';
import { createRevisionGauge } from './revision-gauge.ts';
import { readLiveConfig } from '../../shared/collections/live-config.ts';
import type { LiveConfig } from '../../shared/collections/read-live-collections.ts';
import type { UnreadableEntities } from '../../shared/collections/unreadable-entities.ts';
import type { ConfigChange, ConfigFeed } from '../../shared/nats/buckets/config-feed.ts';
import { followConfig } from '../../shared/nats/buckets/config-feed.ts';
import { afterReconnect } from '../../shared/nats/connection/after-reconnect.ts';
import type { Bucket } from '../../shared/nats/buckets/bucket.ts';
import type { PublishedDestination } from '../../shared/routing/published-destinations.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { AccountActor } from '../workers/registry.ts';
import { dispatchedTo } from '../workers/dispatch/notice-sources.ts';
import { accountActors, idOfSpec } from '../workers/registry.ts';
import type { Placement } from './placement.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';

export type FollowAccountsOptions = {
  readonly bucket: Bucket;
  readonly trust: ConfigTrust;
  readonly connection: LogConnection;
  readonly supervisor: Pick<Supervisor, 'configure'>;
  readonly placement: Pick<Placement, 'want' | 'drop'>;
  readonly unreadable: Pick<UnreadableEntities, 'note'>;
  readonly logger: Logger;
  /** Called when this process has applied every configuration up to this revision. */
  onApplied(revision: number): void;
  /** Called when an actor that this instance owned has left the live version and has ended. */
  onDropped(spec: AccountActor): void;
};

export type FollowedAccounts = ConfigFeed & {
  /** The newest revision up to which every configuration is applied. */
  readonly applied: number;
  /** Whether the configuration is followed now; false while a new connection catches up. */
  readonly isCurrent: boolean;
  /** Ids of the actors that have to run now, by account. Contains only accounts whose configuration has arrived. */
  wanted(): ReadonlyMap<string, ReadonlySet<string>>;
  /** Published destinations and sources whose notices are followed; each of them has a dispatcher. */
  destinations(): readonly { readonly id: string; readonly type: string; readonly name: string }[];
  /**
   * Ids of an account's destinations and followed sources; undefined while they are unknown, because the configurations
   * have not arrived yet, or because the account's only configuration was rejected.
   */
  destinationsOf(accountId: string): readonly string[] | undefined;
  /** Whether the only configuration of an account was rejected. */
  readonly hasUnknown: boolean;
  /** The account whose live version has this destination or source; undefined if no account has it. */
  accountOf(destinationId: string): string | undefined;
  /** Whether the account's live version has this destination or followed source, and it is enabled. */
  delivers(accountId: string, destinationId: string): boolean;
};

/** Starts and retires actors so that they match the accounts' live versions, as versions are published. */
export async function followAccounts(options: FollowAccountsOptions): Promise<FollowedAccounts> {
  const { supervisor, placement, logger } = options;
  const wanted = new Map<string, Map<string, AccountActor>>();
  const destinations = new Map<string, Pick<PublishedDestination, 'id' | 'type' | 'name' | 'isEnabled'>[]>();
  const unknown = new Set<string>();
  const orders = new Map<string, Promise<void>>();
  const revisions = createRevisionGauge(options.onApplied);

  const apply = async ({ accountId, config, bytes, revision }: ConfigChange<LiveConfig>): Promise<void> => {
    const specs = config === undefined ? [] : accountActors(config);
    const before = wanted.get(accountId) ?? new Map<string, AccountActor>();
    const now = new Map(specs.map((spec) => [idOfSpec(spec), spec]));
    if (config === undefined) wanted.delete(accountId);
    else wanted.set(accountId, now);
    unknown.delete(accountId);
    const published = config === undefined ? [] : dispatchedTo(config);
    // Only these members are stored: the settings would stay in memory as long as the actor.
    if (config === undefined) destinations.delete(accountId);
    else
      destinations.set(
        accountId,
        published.map(({ id, type, name, isEnabled }) => ({ id, type, name, isEnabled })),
      );
    // Sent before the actors are ordered, so that a thread has the plan before it starts an actor that needs the plan.
    // The document is copied, because it is a view of the connection's read buffer: without a copy, the whole buffer
    // would be sent to the threads.
    const document = bytes === undefined ? undefined : new Uint8Array(bytes);
    const configured = supervisor.configure(accountId, revision, document);
    await Promise.all([configured, ...specs.map((spec) => placement.want(spec))]);
    for (const [actorId, spec] of before) {
      if (!now.has(actorId)) void retire(actorId, spec);
    }
  };

  const retire = async (actorId: string, spec: AccountActor): Promise<void> => {
    try {
      const wasOurs = await placement.drop(actorId);
      // If the actor was published again in the meantime, it continues at its position.
      const isWanted = wanted.get(spec.accountId)?.has(actorId) === true;
      if (wasOurs && !isWanted) options.onDropped(spec);
    } catch (error) {
      logger.error({ accountId: spec.accountId, actor: actorId, err: error }, 'retiring an actor failed');
    }
  };

  const follow = (): Promise<ConfigFeed> => {
    const reading = revisions.begin();
    return followConfig(options.bucket, {
      trust: options.trust,
      read: readLiveConfig,
      onReady: () => reading.caughtUp(),
      apply: (change) => {
        reading.seen(change);
        options.unreadable.note(change);
        const before = orders.get(change.accountId) ?? Promise.resolve();
        const order = before
          .then(() => apply(change))
          .catch((error: unknown) => logger.error({ ...idsOf(change), err: error }, 'applying a configuration failed'))
          .finally(() => reading.applied(change.revision));
        orders.set(change.accountId, order);
        void order.then(() => {
          if (orders.get(change.accountId) === order) orders.delete(change.accountId);
        });
      },
      onRejected: (accountId, revision, reason) => {
        if (!wanted.has(accountId)) unknown.add(accountId);
        logger.error({ accountId, revision, reason }, 'configuration cannot be used; the previous one stays in force');
      },
    });
  };
  let wasReady = false;
  let isFollowing = true;
  let feed = await follow();
  const again = afterReconnect(
    options.connection,
    async () => {
      isFollowing = false;
      feed.stop();
      feed = await follow();
      isFollowing = true;
    },
    (error) => logger.warn({ err: error }, 'resubscribing to configurations failed'),
  );
  // Resubscribing does not undo the configurations that are already loaded.
  const isReady = (): boolean => (wasReady ||= feed.ready);
  return {
    get revision() {
      return feed.revision;
    },
    get ready() {
      return isReady();
    },
    get untrusted() {
      return feed.untrusted;
    },
    get trusted() {
      return feed.trusted;
    },
    get isCurrent() {
      return isFollowing && feed.ready && options.connection.connected;
    },
    get applied() {
      return revisions.current;
    },
    destinations: () => [...destinations.values()].flat(),
    destinationsOf: (accountId) =>
      isReady() && !unknown.has(accountId) ? (destinations.get(accountId) ?? []).map(({ id }) => id) : undefined,
    get hasUnknown() {
      return unknown.size > 0;
    },
    accountOf(destinationId) {
      for (const [accountId, published] of destinations) {
        if (published.some(({ id }) => id === destinationId)) return accountId;
      }
      return undefined;
    },
    delivers(accountId, destinationId) {
      return destinations.get(accountId)?.some(({ id, isEnabled }) => id === destinationId && isEnabled) === true;
    },
    wanted: () => new Map([...wanted].map(([accountId, actors]) => [accountId, new Set(actors.keys())])),
    stop() {
      again.stop();
      feed.stop();
    },
  };
}

function idsOf({ accountId, revision }: Pick<ConfigChange, 'accountId' | 'revision'>): {
  accountId: string;
  revision: number;
} {
  return { accountId, revision };
}
