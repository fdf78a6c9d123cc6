import type { Logger } from '../../shared/runtime/logger.ts';
import { Account } from '../../shared/postgres/entities/account.ts';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import type { LogBuckets } from './log-buckets.ts';
import { countWaiting, forgetOldRows, markPushed, waitingAccounts } from './outbox.ts';
import { createAccountPusher } from './publish-account.ts';

/** Moves published configuration from PostgreSQL to the CONFIG bucket while this process leads. */
export type ConfigPublisher = {
  /** There may be something to push. */
  wake(): void;
  /** Outbox rows that waited when last looked at. */
  readonly waiting: number;
  /** Rounds that failed. */
  readonly failures: number;
  stop(): Promise<void>;
};

export type ConfigPublisherOptions = {
  readonly storage: Storage;
  readonly logBuckets: LogBuckets;
  readonly logger: Logger;
  leading(): boolean;
  now(): Date;
};

const accountsPerRound = 200;
const pollMs = 1_000;
// With more, it is the log that fails and not an account.
const failuresPerRoundMax = 3;
const reconcileEveryMs = 30_000;

export function createConfigPublisher(options: ConfigPublisherOptions): ConfigPublisher {
  const { storage, logBuckets, logger } = options;
  let waiting = 0;
  let failures = 0;
  let reconciledAtMs = -Infinity;
  let again = false;
  let stopped = false;
  let running: Promise<void> | undefined;

  const pusher = createAccountPusher(storage);
  const push = async (how: 'push' | 'reconcile', accountId: string): Promise<number | undefined> => {
    const pushed = await pusher[how](logBuckets.buckets.config, accountId);
    if (pushed === undefined) return undefined;
    if (pushed.written) logger.info({ accountId, revision: pushed.revision }, 'configuration pushed');
    return pushed.revision;
  };
  // One account that cannot be pushed does not keep the others waiting; the round still counts as failed.
  const eachAccount = async <Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> => {
    const failures: unknown[] = [];
    for (const item of items) {
      if (stopped || !options.leading() || failures.length === failuresPerRoundMax) break;
      await work(item).catch((error: unknown) => void failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  };
  const drain = async (): Promise<void> => {
    await eachAccount(await waitingAccounts(storage.fork(), accountsPerRound), async (account) => {
      const pushed = await push('push', account.accountId);
      await markPushed(storage.fork(), account, pushed ?? null, options.now());
    });
  };
  // What the bucket should hold is compared with what it holds: it may have been wiped, or a push lost with a process.
  const reconcile = async (): Promise<void> => {
    const published = await storage.fork().find(Account, { liveVersionId: { $ne: null } }, { fields: ['id'] });
    await eachAccount(published, async ({ id }) => {
      await push('reconcile', id);
    });
    await forgetOldRows(storage.fork(), options.now());
    reconciledAtMs = performance.now();
  };
  const round = async (): Promise<void> => {
    if (!options.leading() || !logBuckets.connection.connected) return;
    try {
      await drain();
      if (performance.now() - reconciledAtMs >= reconcileEveryMs) await reconcile();
    } catch (error) {
      failures += 1;
      logger.warn({ err: error }, 'publishing configuration failed, retrying');
      // The bucket itself may be gone.
      reconciledAtMs = -Infinity;
      await logBuckets.reopen().catch((reason: unknown) => logger.debug({ err: reason }, 'reopening the log failed'));
    }
    waiting = await countWaiting(storage.fork()).catch(() => waiting);
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
  const timer = setInterval(wake, pollMs);
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
      clearInterval(timer);
      offReconnect();
      await running;
    },
  };
}
