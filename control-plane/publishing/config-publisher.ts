import type { Logger } from '../../shared/runtime/logger.ts';
import { every } from '../../shared/runtime/every.ts';
import { Account } from '../../shared/postgres/entities.ts';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import { AccountPublishError, createAccountPublisher } from './account-publisher.ts';
import type { LogBuckets } from './log-buckets.ts';
import { RateLimit } from '../../shared/limits/index.ts';
import { countWaiting, forgetOldRows, markPublished, waitingAccounts } from './outbox.ts';
import type { ConfigSigner } from '../../shared/contracts/config/signed-config.ts';

/** Moves published configuration from PostgreSQL to the buckets of the log while this process leads. */
export type ConfigPublisher = {
  /** Call when there may be something to publish. */
  wake(): void;
  /** Number of outbox rows that waited at the last check; 0 while another process leads. */
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
/** Failures in a row after which the rest of a pass is left for later: each may take as long as the log's deadline. */
const failuresInRowMax = 3;
const reconcileEveryMs = 30_000;
/** Minimum pause of an account after a push, even a small one, since every follower has to apply it. */
const pauseMinMs = 100;

type RoundOutcome = { published: number; readonly failed: { readonly accountId?: string; readonly err: unknown }[] };

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
  /** Accounts whose last attempt failed, the one that was tried least recently first. */
  const failing = new Set<string>();
  // An account that cannot be published does not delay the others: it comes after them in later passes. The round still
  // counts as failed. Returns whether all accounts that were not failing before were tried.
  const eachAccount = async (
    outcome: RoundOutcome,
    accountIds: readonly string[],
    work: (accountId: string) => Promise<void>,
  ): Promise<boolean> => {
    const given = new Set(accountIds);
    const others = accountIds.filter((accountId) => !failing.has(accountId));
    let [tried, failuresInRow] = [0, 0];
    for (const accountId of [...others, ...[...failing].filter((one) => given.has(one))]) {
      if (stopped || !options.leading() || failuresInRow === failuresInRowMax) break;
      failing.delete(accountId);
      tried += 1;
      try {
        await work(accountId);
        outcome.published += 1;
        failuresInRow = 0;
      } catch (error) {
        failing.add(accountId);
        failuresInRow += 1;
        outcome.failed.push({ accountId, err: error });
      }
    }
    return tried >= others.length;
  };
  /** Publishes waiting changes. Returns whether no change was waiting. */
  const drain = async (outcome: RoundOutcome): Promise<boolean> => {
    const paused = [...pushed.inDebt().keys()];
    const found = await waitingAccounts(storage.fork(), accountsPerRound, { except: paused, last: [...failing] });
    const waitingOf = new Map(found.map((account) => [account.accountId, account]));
    await eachAccount(outcome, [...waitingOf.keys()], async (accountId) => {
      const account = waitingOf.get(accountId);
      const published = await publish('publish', accountId);
      if (account !== undefined) await markPublished(storage.fork(), account, published ?? null, options.now());
    });
    return found.length + paused.length === 0;
  };
  // Compares the bucket with the database, because the bucket may have been wiped, or a process may have ended before
  // it published a change.
  const reconcile = async (outcome: RoundOutcome): Promise<void> => {
    const published = await storage.fork().find(Account, { liveVersionId: { $ne: null } }, { fields: ['id'] });
    const ids = published.map(({ id }) => id);
    const isWhole = await eachAccount(outcome, ids, async (id) => void (await publish('reconcile', id)));
    await forgetOldRows(storage.fork(), options.now());
    if (isWhole) reconciledAtMs = performance.now();
  };
  const round = async (): Promise<void> => {
    if (!options.leading() || !logBuckets.connection.connected) return;
    let isDone = false;
    const outcome: RoundOutcome = { published: 0, failed: [] };
    try {
      isDone = await drain(outcome);
      if (performance.now() - reconciledAtMs >= reconcileEveryMs) await reconcile(outcome);
    } catch (error) {
      outcome.failed.push({ err: error });
    }
    const [failure] = outcome.failed;
    if (failure !== undefined) {
      failures += 1;
      isDone = false;
      logger.warn(failure, 'publishing configuration failed; retrying');
    }
    if (outcome.published === 0 && outcome.failed.some(({ err }) => !(err instanceof AccountPublishError))) {
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
      return options.leading() ? waiting : 0;
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
