import { LRUCache } from 'lru-cache';
import { createHash } from 'node:crypto';
import type { Bucket } from '../../shared/nats/buckets/bucket.ts';
import { accountKey } from '../../shared/contracts/subjects.ts';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import { encodeAccountConfig } from '../../shared/contracts/config/account-config.ts';
import { readAccountDocument } from './account-document.ts';

export class PushError extends Error {
  readonly code = 'push_failed';
}

export type Pushed = {
  /** Revision of the bucket that holds what the account runs. */
  readonly revision: number;
  /** False when the bucket held it already. */
  readonly written: boolean;
};

/** Brings accounts' entries in the CONFIG bucket to what PostgreSQL says they run. */
export type AccountPusher = {
  /** Undefined for an account that has published nothing. */
  push(bucket: Bucket, accountId: string): Promise<Pushed | undefined>;
  /** The same, after a look at what the bucket really holds. */
  reconcile(bucket: Bucket, accountId: string): Promise<Pushed | undefined>;
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
export function createAccountPusher(storage: Storage): AccountPusher {
  const known = new LRUCache<string, Held>({ max: accountsRemembered });
  const push = async (bucket: Bucket, accountId: string): Promise<Pushed | undefined> => {
    const key = accountKey(accountId);
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const held = known.get(accountId) ?? (await readHeld(bucket, key));
      const document = await readAccountDocument(storage.fork(), accountId);
      if (document === undefined) return undefined;
      const bytes = encodeAccountConfig(document);
      const digest = digestOf(bytes);
      if (held.digest === digest) {
        known.set(accountId, held);
        return { revision: held.revision, written: false };
      }
      known.delete(accountId);
      const revision = await bucket.putIfUnchanged(key, bytes, held.revision);
      if (revision === undefined) continue;
      known.set(accountId, { revision, digest });
      return { revision, written: true };
    }
    throw new PushError(`pushing account ${accountId}: another writer was first ${attemptsMax} times`);
  };
  return {
    push,
    reconcile(bucket, accountId) {
      known.delete(accountId);
      return push(bucket, accountId);
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
