import type { Bucket, BucketEntry, BucketWatch } from './bucket.ts';
import { decodeAccountConfig } from '../../contracts/config/account-config.ts';
import type { AccountConfig } from '../../contracts/config/account-config.ts';

export type ConfigChange<Config = AccountConfig> = {
  readonly accountId: string;
  /** Undefined when the account's configuration was removed. */
  readonly config: Config | undefined;
  /** The same as it was published, to be handed on; a part of larger bytes. */
  readonly bytes: Uint8Array | undefined;
  readonly revision: number;
};

export type ConfigFeed = {
  /** The newest revision that was applied; 0 before the first. */
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

/** Follows the CONFIG bucket: every account's live configuration, then each change as it is published. */
export async function followConfig<Config>(bucket: Bucket, options: ConfigFeedOptions<Config>): Promise<ConfigFeed> {
  let revision = 0;
  let ready = false;
  const take = (entry: BucketEntry): void => {
    const accountId = entry.key.slice('account.'.length);
    try {
      const { value, revision: published } = entry;
      const config = value === undefined ? undefined : options.read(decodeAccountConfig(value));
      options.apply({ accountId, config, bytes: value, revision: published });
    } catch (error) {
      options.onRejected(accountId, entry.revision, error instanceof Error ? error.message : String(error));
    }
    revision = Math.max(revision, entry.revision);
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
      return revision;
    },
    get ready() {
      return ready;
    },
    stop: () => watch.stop(),
  };
}
