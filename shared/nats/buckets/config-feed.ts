import type { Bucket, BucketEntry, BucketWatch } from './bucket.ts';
import { createPacedChanges } from './paced-changes.ts';
import { decodeAccountConfig } from '../../contracts/config/account-config.ts';
import type { AccountConfig } from '../../contracts/config/account-config.ts';
import { gatewayConfigRevision, gatewaySignee } from '../../contracts/config/gateway-config.ts';
import { UntrustedConfigError } from '../../contracts/config/signed-config.ts';
import type { ConfigTrust } from '../../contracts/config/signed-config.ts';

export type ConfigChange<Config = AccountConfig> = {
  readonly accountId: string;
  /** Undefined if the account's configuration was removed. */
  readonly config: Config | undefined;
  /** The configuration's bytes as published, to be passed on; a view into a larger buffer. */
  readonly bytes: Uint8Array | undefined;
  readonly revision: number;
  /**
   * Once this change is applied, every configuration up to this revision is applied or rejected: waiting changes have
   * later revisions.
   */
  readonly upTo: number;
};

export type ConfigFeed = {
  /** Every configuration up to this revision is applied or rejected; 0 before the first configuration. */
  readonly revision: number;
  /** Whether every configuration that was there at the start is applied. */
  readonly ready: boolean;
  /**
   * Number of accounts whose only configuration is rejected because it is not signed. After an upgrade these are all
   * accounts, until the control plane has signed their configurations.
   */
  readonly untrusted: number;
  /** Number of accounts with an accepted configuration. */
  readonly trusted: number;
  stop(): void;
};

export type ConfigFeedOptions<Config> = {
  /** The bucket to follow: CONFIG or GATEWAY_CONFIG. Default CONFIG. */
  readonly of?: 'config' | 'gatewayConfig';
  readonly trust: ConfigTrust;
  /** Reads a document before it is applied. Throws for a document that cannot be used. */
  read(config: AccountConfig): Config;
  apply(change: ConfigChange<Config>): void;
  /**
   * Called for a document that is not trusted, or that this build cannot use. The account keeps its previous
   * configuration.
   */
  onRejected(accountId: string, revision: number, reason: string): void;
  onReady?(): void;
};

/** Fraction of the thread's time for the configurations of one account that publishes repeatedly, from 0 to 1. */
const accountShare = 0.05;
/** Time of the thread that one account's configurations may take before its next configuration waits, in ms. */
const accountBurstMs = 200;
/** A published configuration waits at most this long for its turn, in ms. */
const waitMaxMs = 5_000;

/**
 * Follows a bucket of configuration: applies the live configuration of every account, then each change. Both buckets
 * use the revisions of CONFIG. If an account exceeds its limit of this thread's time, only its newest waiting change is
 * applied.
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
    const { key, value, revision, storedAtMs } = entry;
    const accountId = accountOf(key);
    try {
      const config =
        value === undefined ? undefined : options.read(publishedBy(storedAtMs, decodeAccountConfig(value)));
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
    // At the start each account has one configuration, and all are applied at once.
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

/**
 * A configuration whose `publishedAt` is not later than `storedAtMs`. If the clock of a control plane is ahead of the
 * log's, a new destination would otherwise miss the events that the log stores until then.
 */
function publishedBy(storedAtMs: number, config: AccountConfig): AccountConfig {
  if (!(Date.parse(config.publishedAt) > storedAtMs)) return config;
  return { ...config, publishedAt: new Date(storedAtMs).toISOString() };
}

const pollMs = 50;
/** A control plane signs an unsigned configuration within this time, in ms. */
const signedWithinMs = 30_000;

/** No configuration in the log is signed. The process exits, and is restarted until a control plane has signed one. */
export class NotSignedError extends Error {
  readonly code = 'not_signed';
}

/**
 * Resolves once every account has a signed configuration, so that a reader upgraded before the control plane does not
 * start with half of its accounts. After `withinMs` it throws NotSignedError if only unsigned configurations have
 * arrived, and resolves otherwise.
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
        'reading the configuration: the log has none that is signed by a key in CONFIG_PUBLIC_KEYS. ' +
          'Give control planes the CONFIG_SIGNING_KEY that belongs to such a key, and restart them first',
      );
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
