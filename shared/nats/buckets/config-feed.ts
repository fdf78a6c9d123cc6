import type { Bucket, BucketEntry, BucketWatch } from './bucket.ts';
import { createPacedChanges } from './paced-changes.ts';
import { decodeAccountConfig } from '../../contracts/config/account-config.ts';
import type { AccountConfig } from '../../contracts/config/account-config.ts';

export type ConfigChange<Config = AccountConfig> = {
  readonly accountId: string;
  /** Undefined when the account's configuration was removed. */
  readonly config: Config | undefined;
  /** The same as it was published, to be handed on; a part of larger bytes. */
  readonly bytes: Uint8Array | undefined;
  readonly revision: number;
  /** With this one every configuration up to that revision is applied, or was rejected: those that wait have later ones. */
  readonly upTo: number;
};

export type ConfigFeed = {
  /** Every configuration up to that revision was applied, or rejected; 0 before the first. */
  readonly revision: number;
  /** Whether every configuration there was at the start has been applied. */
  readonly ready: boolean;
  stop(): void;
};

export type ConfigFeedOptions<Config> = {
  /** What is made of a document before it is applied. Throws for one that cannot be used. */
  read(config: AccountConfig): Config;
  apply(change: ConfigChange<Config>): void;
  /** A document this build cannot use; what ran before goes on running. */
  onRejected(accountId: string, revision: number, reason: string): void;
  onReady?(): void;
};

/** Of the thread's time that one account's configurations may take, published again and again. */
const accountShare = 0.05;
/** What they may take at once before one has to wait, in ms of the thread. */
const accountBurstMs = 200;
/** The longest that a published configuration waits for its turn then, in ms. */
const waitMaxMs = 5_000;

/**
 * Follows the CONFIG bucket: every account's live configuration, then each change as it is published. Where an account
 * publishes faster than its share of the thread lets it be applied, only the newest of what waits is.
 */
export async function followConfig<Config>(bucket: Bucket, options: ConfigFeedOptions<Config>): Promise<ConfigFeed> {
  let newest = 0;
  let ready = false;
  const upTo = (): number => Math.min(newest, (changes.waitingFrom ?? Number.POSITIVE_INFINITY) - 1);
  const apply = ({ key, value, revision }: BucketEntry): void => {
    const accountId = key.slice('account.'.length);
    try {
      const config = value === undefined ? undefined : options.read(decodeAccountConfig(value));
      options.apply({ accountId, config, bytes: value, revision, upTo: upTo() });
    } catch (error) {
      options.onRejected(accountId, revision, error instanceof Error ? error.message : String(error));
    }
  };
  const changes = createPacedChanges<BucketEntry>({ apply, share: accountShare, burstMs: accountBurstMs, waitMaxMs });
  const take = (entry: BucketEntry): void => {
    newest = Math.max(newest, entry.revision);
    // What was published before is read at once, once for each account.
    if (ready) changes.offer(entry.key, entry.revision, entry);
    else apply(entry);
  };
  const watch: BucketWatch = await bucket.watch({
    filter: 'account.*',
    onEntry: take,
    onReady: () => {
      ready = true;
      options.onReady?.();
    },
  });
  return {
    get revision() {
      return upTo();
    },
    get ready() {
      return ready;
    },
    stop() {
      watch.stop();
      changes.stop();
    },
  };
}
