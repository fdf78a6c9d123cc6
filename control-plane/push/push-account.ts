import type { Bucket } from '../../shared/log/bucket.ts';
import { accountKey } from '../../shared/log/subjects.ts';
import type { Storage } from '../../shared/storage/open-storage.ts';
import { encodeDocument, readAccountDocument } from './account-document.ts';

const attemptsMax = 10;

export class PushError extends Error {
  readonly code = 'push_failed';
}

export type Pushed = {
  /** Revision of the bucket that holds what the account runs. */
  readonly revision: number;
  /** False when the bucket held it already. */
  readonly written: boolean;
};

/**
 * Brings an account's entry in the CONFIG bucket to what PostgreSQL says it runs. Undefined for an account that has
 * published nothing. The database is read after the entry and the write is conditional on it, so that a publisher
 * that was held up can never put an older state over a newer one.
 */
export async function pushAccount(storage: Storage, bucket: Bucket, accountId: string): Promise<Pushed | undefined> {
  const key = accountKey(accountId);
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const entry = await bucket.get(key);
    const document = await readAccountDocument(storage.fork(), accountId);
    if (document === undefined) return undefined;
    const bytes = encodeDocument(document);
    if (entry?.value !== undefined && Buffer.compare(entry.value, bytes) === 0) {
      return { revision: entry.revision, written: false };
    }
    const revision = await bucket.putIfUnchanged(key, bytes, entry?.revision ?? 0);
    if (revision !== undefined) return { revision, written: true };
  }
  throw new PushError(`pushing account ${accountId}: another writer was first ${attemptsMax} times`);
}
