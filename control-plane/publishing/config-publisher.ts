import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Logger } from '../../shared/runtime/logger.ts';
import { every } from '../../shared/runtime/every.ts';
import { Account } from '../../shared/postgres/entities.ts';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import type { LogBuckets } from './log-buckets.ts';
import { createPushPauses } from './push-pauses.ts';
import { countWaiting, forgetOldRows, markPublished, waitingAccounts } from './outbox.ts';
import type { Bucket } from '../../shared/nats/buckets/bucket.ts';
import { accountKey } from '../../shared/contracts/subjects.ts';
import { encodeAccountConfig } from '../../shared/contracts/config/account-config.ts';
import { readAccountDocument } from './account-document.ts';

/** Moves published configuration from PostgreSQL to the CONFIG bucket while this process leads. */
export type ConfigPublisher = {
  /** There may be something to publish. */
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
  /** What may be written of one account a second. */
  readonly pushBytesPerS: number;
  leading(): boolean;
  now(): Date;
};

const accountsPerRound = 200;
/** Notices wake the publisher; this is for those that got lost with a connection. */
const pollMs = 5_000;
/** While something waits, or the last round failed. */
const pollAgainMs = 1_000;
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

  let resume: NodeJS.Timeout | undefined;
  const pauses = createPushPauses(options.pushBytesPerS);
  const accounts = createAccountPublisher(storage);
  const publish = async (how: 'publish' | 'reconcile', accountId: string): Promise<number | undefined> => {
    const published = await accounts[how](logBuckets.buckets.config, accountId);
    if (published === undefined) return undefined;
    if (published.written) {
      pauses.note(accountId, published.bytes, performance.now());
      logger.info({ accountId, revision: published.revision }, 'configuration published');
    }
    return published.revision;
  };
  // One account that cannot be published does not keep the others waiting; the round still counts as failed.
  const eachAccount = async <Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> => {
    const failures: unknown[] = [];
    for (const item of items) {
      if (stopped || !options.leading() || failures.length === failuresPerRoundMax) break;
      await work(item).catch((error: unknown) => void failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  };
  /** Says whether there was nothing to publish. */
  const drain = async (): Promise<boolean> => {
    const paused = pauses.waiting(performance.now());
    const found = await waitingAccounts(storage.fork(), accountsPerRound, paused);
    await eachAccount(found, async (account) => {
      const published = await publish('publish', account.accountId);
      await markPublished(storage.fork(), account, published ?? null, options.now());
    });
    return found.length + paused.length === 0;
  };
  // What the bucket should hold is compared with what it holds: it may have been wiped, or a publish lost with a process.
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
      // The bucket itself may be gone.
      reconciledAtMs = -Infinity;
      await logBuckets.reopen().catch((reason: unknown) => logger.debug({ err: reason }, 'reopening the log failed'));
    }
    waiting = isDone ? 0 : await countWaiting(storage.fork()).catch(() => waiting);
    clearTimeout(resume);
    const nextInMs = isDone ? undefined : (pauses.nextInMs(performance.now()) ?? pollAgainMs);
    if (nextInMs !== undefined && !stopped) resume = setTimeout(wake, nextInMs);
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

export class AccountPublishError extends Error {
  readonly code = 'publish_failed';
}

export type PublishedAccount = {
  /** Revision of the bucket that holds what the account runs. */
  readonly revision: number;
  /** False when the bucket held it already. */
  readonly written: boolean;
  /** Its size. */
  readonly bytes: number;
};

/** Brings accounts' entries in the CONFIG bucket to what PostgreSQL says they run. */
export type AccountPublisher = {
  /** Undefined for an account that has published nothing. */
  publish(bucket: Bucket, accountId: string): Promise<PublishedAccount | undefined>;
  /** The same, after a look at what the bucket really holds. */
  reconcile(bucket: Bucket, accountId: string): Promise<PublishedAccount | undefined>;
};

/** An entry of the bucket: its revision and the hash of its value, nothing of which is 0 and empty. */
type Held = { readonly revision: number; readonly digest: string };

const attemptsMax = 10;
const accountsRemembered = 10_000;

/**
 * The database is read after the entry and the write is conditional on it, so that a publisher that was held up can
 * never put an older state over a newer one. Entries it has written itself it need not read again: were one changed
 * or wiped since, the condition fails.
 */
function createAccountPublisher(storage: Storage): AccountPublisher {
  const known = new LRUCache<string, Held>({ max: accountsRemembered });
  const publish = async (bucket: Bucket, accountId: string): Promise<PublishedAccount | undefined> => {
    const key = accountKey(accountId);
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const held = known.get(accountId) ?? (await readHeld(bucket, key));
      const document = await readAccountDocument(storage.fork(), accountId);
      if (document === undefined) return undefined;
      const bytes = encodeAccountConfig(document);
      const digest = digestOf(bytes);
      if (held.digest === digest) {
        known.set(accountId, held);
        return { revision: held.revision, written: false, bytes: bytes.length };
      }
      known.delete(accountId);
      const revision = await bucket.putIfUnchanged(key, bytes, held.revision);
      if (revision === undefined) continue;
      known.set(accountId, { revision, digest });
      return { revision, written: true, bytes: bytes.length };
    }
    throw new AccountPublishError(`publishing account ${accountId}: another writer was first ${attemptsMax} times`);
  };
  return {
    publish,
    reconcile(bucket, accountId) {
      known.delete(accountId);
      return publish(bucket, accountId);
    },
  };
}

async function readHeld(bucket: Bucket, key: string): Promise<Held> {
  const entry = await bucket.get(key);
  const digest = entry?.value === undefined ? '' : digestOf(entry.value);
  return { revision: entry?.revision ?? 0, digest };
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64');
}
