import type { Logger } from '../../shared/runtime/logger.ts';
import { every } from '../../shared/runtime/every.ts';
import { Account } from '../../shared/postgres/entities.ts';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import { createAccountPublisher } from './account-publisher.ts';
import type { LogBuckets } from './log-buckets.ts';
import { RateLimit } from '../../shared/limits/index.ts';
import { countWaiting, forgetOldRows, markPublished, waitingAccounts } from './outbox.ts';
import type { ConfigSigner } from '../../shared/contracts/config/signed-config.ts';

/** Moves published configuration from PostgreSQL to the buckets of the log while this process leads. */
export type ConfigPublisher = {
  /** Call when there may be something to publish. */
  wake(): void;
  /** Number of outbox rows that waited at the last check. */
  readonly waiting: number;
  /** Rounds that failed. */
  readonly failures: number;
  stop(): Promise<void>;
};

export type ConfigPublisherOptions = {
  readonly storage: Storage;
  readonly logBuckets: LogBuckets;
  /** Undefined: documents are not signed. */
  readonly signer: ConfigSigner | undefined;
  readonly logger: Logger;
  /** Limit of the writes for one account, in bytes per second. */
  readonly pushBytesPerS: number;
  leading(): boolean;
  now(): Date;
};

const accountsPerRound = 200;
/** Notifications wake the publisher; polling covers notifications lost with a connection. */
const pollMs = 5_000;
/** Polling interval while changes wait or after a failed round. */
const pollAgainMs = 1_000;
// If more accounts fail, the cause is the log and not an account.
const failuresPerRoundMax = 3;
const reconcileEveryMs = 30_000;
/** Minimum pause of an account after a push, even a small one, since every follower has to apply it. */
const pauseMinMs = 100;

export function createConfigPublisher(options: ConfigPublisherOptions): ConfigPublisher {
  const { storage, logBuckets, logger } = options;
  let waiting = 0;
  let failures = 0;
  let reconciledAtMs = -Infinity;
  let again = false;
  let stopped = false;
  let running: Promise<void> | undefined;

  let resume: NodeJS.Timeout | undefined;
  const pushed = new RateLimit({ perS: options.pushBytesPerS, burst: 0 });
  const accounts = createAccountPublisher(options);
  const publish = async (how: 'publish' | 'reconcile', accountId: string): Promise<number | undefined> => {
    const published = await accounts[how](logBuckets.buckets, accountId);
    if (published === undefined) return undefined;
    if (published.written) {
      pushed.charge(accountId, Math.max(published.bytes, (options.pushBytesPerS * pauseMinMs) / 1_000));
      logger.info({ accountId, revision: published.revision }, 'configuration published');
    }
    return published.revision;
  };
  // An account that cannot be published does not delay the others; the round still counts as failed.
  const eachAccount = async <Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> => {
    const failures: unknown[] = [];
    for (const item of items) {
      if (stopped || !options.leading() || failures.length === failuresPerRoundMax) break;
      await work(item).catch((error: unknown) => void failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  };
  /** Publishes waiting changes. Returns whether no change was waiting. */
  const drain = async (): Promise<boolean> => {
    const paused = [...pushed.inDebt().keys()];
    const found = await waitingAccounts(storage.fork(), accountsPerRound, paused);
    await eachAccount(found, async (account) => {
      const published = await publish('publish', account.accountId);
      await markPublished(storage.fork(), account, published ?? null, options.now());
    });
    return found.length + paused.length === 0;
  };
  // Compares the bucket with the database, because the bucket may have been wiped, or a process may have ended before
  // it published a change.
  const reconcile = async (): Promise<void> => {
    const published = await storage.fork().find(Account, { liveVersionId: { $ne: null } }, { fields: ['id'] });
    await eachAccount(published, async ({ id }) => {
      await publish('reconcile', id);
    });
    await forgetOldRows(storage.fork(), options.now());
    reconciledAtMs = performance.now();
  };
  const round = async (): Promise<void> => {
    if (!options.leading() || !logBuckets.connection.connected) return;
    let isDone = false;
    try {
      isDone = await drain();
      if (performance.now() - reconciledAtMs >= reconcileEveryMs) await reconcile();
    } catch (error) {
      failures += 1;
      isDone = false;
      logger.warn({ err: error }, 'publishing configuration failed; retrying');
      // The log may have lost the bucket itself, so the next round compares all accounts.
      reconciledAtMs = -Infinity;
      await logBuckets.reopen().catch((reason: unknown) => logger.debug({ err: reason }, 'reopening the log failed'));
    }
    waiting = isDone ? 0 : await countWaiting(storage.fork()).catch(() => waiting);
    clearTimeout(resume);
    if (isDone || stopped) return;
    const pauses = [...pushed.inDebt().values()];
    resume = setTimeout(wake, pauses.length === 0 ? pollAgainMs : Math.min(...pauses));
  };
  const run = async (): Promise<void> => {
    while (again) {
      again = false;
      await round();
    }
    running = undefined;
  };
  const wake = (): void => {
    if (stopped) return;
    again = true;
    running ??= run();
  };
  const polling = every(pollMs, wake);
  const offReconnect = logBuckets.connection.onReconnect(() => {
    reconciledAtMs = -Infinity;
    wake();
  });
  return {
    wake,
    get waiting() {
      return waiting;
    },
    get failures() {
      return failures;
    },
    async stop() {
      stopped = true;
      again = false;
      void polling.stop();
      clearTimeout(resume);
      offReconnect();
      await running;
    },
  };
}
