import type { Bucket, BucketEntry, BucketWatch } from './bucket.ts';
import { createPacedChanges } from './paced-changes.ts';
import { decodeAccountConfig } from '../../contracts/config/account-config.ts';
import type { AccountConfig } from '../../contracts/config/account-config.ts';
import { gatewayConfigRevision, gatewaySignee } from '../../contracts/config/gateway-config.ts';
import { UntrustedConfigError } from '../../contracts/config/signed-config.ts';
import type { ConfigTrust } from '../../contracts/config/signed-config.ts';

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
  /** Accounts whose only configuration is refused as it is not signed. While a control plane is upgraded these are all. */
  readonly untrusted: number;
  /** Accounts of which a configuration was accepted. */
  readonly trusted: number;
  stop(): void;
};

export type ConfigFeedOptions<Config> = {
  /** Which bucket it is: CONFIG, or GATEWAY_CONFIG. Default CONFIG. */
  readonly of?: 'config' | 'gatewayConfig';
  readonly trust: ConfigTrust;
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
 * Follows a bucket of configuration: every account's live one, then each change as it is published. Revisions are those of
 * CONFIG. Where an account publishes faster than its limit of this thread's time, only the newest waiting change is applied.
 */
export async function followConfig<Config>(bucket: Bucket, options: ConfigFeedOptions<Config>): Promise<ConfigFeed> {
  const ofGateways = options.of === 'gatewayConfig';
  let newest = 0;
  let ready = false;
  const trusted = new Set<string>();
  const untrusted = new Set<string>();
  const upTo = (): number => Math.min(newest, (changes.waitingFrom ?? Number.POSITIVE_INFINITY) - 1);
  const rejected = ({ key, revision }: BucketEntry, error: unknown): void =>
    options.onRejected(accountOf(key), revision, error instanceof Error ? error.message : String(error));
  const apply = (entry: BucketEntry): void => {
    const { key, value, revision } = entry;
    const accountId = accountOf(key);
    try {
      const config = value === undefined ? undefined : options.read(decodeAccountConfig(value));
      options.apply({ accountId, config, bytes: value, revision, upTo: upTo() });
    } catch (error) {
      rejected(entry, error);
    }
  };
  /** Checked before the change waits for its turn, because only the newest waiting change is applied. */
  const isTrusted = (entry: BucketEntry): boolean => {
    try {
      const accountId = accountOf(entry.key);
      options.trust.accept(ofGateways ? gatewaySignee(accountId) : accountId, entry.value);
      trusted.add(entry.key);
      untrusted.delete(entry.key);
      return true;
    } catch (error) {
      if (!(error instanceof UntrustedConfigError)) throw error;
      if (!trusted.has(entry.key)) untrusted.add(entry.key);
      rejected(entry, error);
      return false;
    }
  };
  const changes = createPacedChanges<BucketEntry>({ apply, share: accountShare, burstMs: accountBurstMs, waitMaxMs });
  const revisionOf = ({ value, revision }: BucketEntry): number => {
    if (!ofGateways) return revision;
    return value === undefined ? newest : gatewayConfigRevision(value);
  };
  const take = (found: BucketEntry): void => {
    const entry = { ...found, revision: revisionOf(found) };
    newest = Math.max(newest, entry.revision);
    if (!isTrusted(entry)) return;
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
    get untrusted() {
      return untrusted.size;
    },
    get trusted() {
      return trusted.size;
    },
    stop() {
      watch.stop();
      changes.stop();
    },
  };
}

const accountOf = (key: string): string => key.slice('account.'.length);

const pollMs = 50;
/** A control plane signs what it finds unsigned within this, in ms. */
const signedWithinMs = 30_000;

/** Nothing in the log is signed: the process ends, and is started again until a control plane has signed it. */
export class NotSignedError extends Error {
  readonly code = 'not_signed';
}

/**
 * Resolves once a configuration of every account is signed, so that a reader that is upgraded before the control plane
 * takes over nothing with half of its accounts. A few that stay unsigned are no reason to wait for ever. Throws
 * NotSignedError where none is signed by then.
 */
export async function awaitTrusted(
  feed: Pick<ConfigFeed, 'ready' | 'untrusted' | 'trusted'>,
  withinMs = signedWithinMs,
): Promise<void> {
  const deadlineMs = performance.now() + withinMs;
  while (!feed.ready || feed.untrusted > 0) {
    if (performance.now() >= deadlineMs) {
      if (feed.untrusted === 0 || feed.trusted > 0) return;
      throw new NotSignedError(
        'reading the configuration: none in the log is signed by a key in CONFIG_PUBLIC_KEYS. Give control planes the ' +
          'CONFIG_SIGNING_KEY that belongs to it, and restart them first',
      );
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
