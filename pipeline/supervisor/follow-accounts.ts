import type { AccountConfig } from '../../shared/config/account-config.ts';
import { followConfig } from '../../shared/config/config-feed.ts';
import type { ConfigChange, ConfigFeed } from '../../shared/config/config-feed.ts';
import { afterReconnect } from '../../shared/log/after-reconnect.ts';
import type { Bucket } from '../../shared/log/bucket.ts';
import type { LogConnection } from '../../shared/log/connection.ts';
import { publishedDestinations } from '../../shared/plan/published-destinations.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { actorIdOf } from '../host/messages.ts';
import type { ActorSpec } from '../host/messages.ts';
import { createRevisionGauge } from './revision-gauge.ts';
import type { Assignments } from './assignments.ts';
import type { Supervisor } from './supervisor.ts';

export type FollowAccountsOptions = {
  readonly bucket: Bucket;
  readonly connection: LogConnection;
  readonly supervisor: Pick<Supervisor, 'configure'>;
  readonly assignments: Pick<Assignments, 'want' | 'drop'>;
  readonly logger: Logger;
  /** Every configuration up to this revision runs. */
  onApplied(revision: number): void;
  /** A destination is published no more and its dispatcher is gone. */
  onRetired(accountId: string, destinationId: string): Promise<void>;
};

export type FollowedAccounts = ConfigFeed & {
  /** The newest revision up to which everything runs. */
  readonly applied: number;
  /** Destinations that are published now, by account; only accounts whose configuration is there. */
  published(): ReadonlyMap<string, ReadonlySet<string>>;
};

/** Keeps the actors what the accounts' live versions ask for, as they are published. */
export async function followAccounts(options: FollowAccountsOptions): Promise<FollowedAccounts> {
  const { supervisor, assignments, logger } = options;
  const published = new Map<string, Set<string>>();
  const orders = new Map<string, Promise<void>>();
  const revisions = createRevisionGauge(options.onApplied);

  const apply = async ({ accountId, config, revision }: ConfigChange): Promise<void> => {
    const specs = config === undefined ? [] : dispatchersOf(config);
    const before = published.get(accountId) ?? new Set();
    const wanted = new Set(specs.map(({ destinationId }) => destinationId));
    if (config === undefined) published.delete(accountId);
    else published.set(accountId, wanted);
    const document = config === undefined ? undefined : new TextEncoder().encode(JSON.stringify(config));
    // A thread has the plan before the dispatcher that needs it is started.
    const configured = supervisor.configure(accountId, revision, document);
    await Promise.all([configured, ...specs.map((spec) => assignments.want(spec))]);
    for (const destinationId of before) {
      if (!wanted.has(destinationId)) void retire(accountId, destinationId);
    }
  };

  const retire = async (accountId: string, destinationId: string): Promise<void> => {
    try {
      const actorId = actorIdOf({ kind: 'dispatcher', accountId, destinationId, publishedAtMs: 0 });
      const wasOurs = await assignments.drop(actorId);
      // Published again meanwhile: it goes on where it was.
      const isPublished = published.get(accountId)?.has(destinationId) === true;
      if (wasOurs && !isPublished) await options.onRetired(accountId, destinationId);
    } catch (error) {
      logger.error({ accountId, destinationId, err: error }, 'retiring a destination failed');
    }
  };

  const follow = (): Promise<ConfigFeed> =>
    followConfig(options.bucket, {
      apply: (change) => {
        revisions.seen(change.revision);
        const before = orders.get(change.accountId) ?? Promise.resolve();
        const order = before
          .then(() => apply(change))
          .catch((error: unknown) => logger.error({ ...idsOf(change), err: error }, 'applying a configuration failed'))
          .finally(() => revisions.applied(change.revision));
        orders.set(change.accountId, order);
      },
      onRejected: (accountId, revision, reason) => {
        logger.error({ accountId, revision, reason }, 'a configuration cannot be used; the one before runs on');
      },
    });
  let wasReady = false;
  let feed = await follow();
  const again = afterReconnect(
    options.connection,
    async () => {
      feed.stop();
      feed = await follow();
    },
    (error) => logger.warn({ err: error }, 'following configurations again failed'),
  );
  return {
    get revision() {
      return feed.revision;
    },
    get ready() {
      // Following again does not take back what was loaded.
      return (wasReady ||= feed.ready);
    },
    get applied() {
      return revisions.current;
    },
    published: () => published,
    stop() {
      again.stop();
      feed.stop();
    },
  };
}

function dispatchersOf(config: AccountConfig): Extract<ActorSpec, { kind: 'dispatcher' }>[] {
  const publishedAtMs = Date.parse(config.publishedAt);
  return publishedDestinations(config).map(({ id, accountId }) => ({
    kind: 'dispatcher',
    accountId,
    destinationId: id,
    publishedAtMs,
  }));
}

function idsOf({ accountId, revision }: ConfigChange): { accountId: string; revision: number } {
  return { accountId, revision };
}
