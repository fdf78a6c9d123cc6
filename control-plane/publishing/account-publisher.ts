import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { encodeAccountConfig } from '../../shared/contracts/config/account-config.ts';
import { withoutSignature } from '../../shared/contracts/config/signed-config.ts';
import type { ConfigSigner } from '../../shared/contracts/config/signed-config.ts';
import { accountKey } from '../../shared/contracts/subjects.ts';
import type { Bucket } from '../../shared/nats/buckets/bucket.ts';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import { readAccountDocument } from './account-document.ts';

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

export type AccountPublisherOptions = {
  readonly storage: Storage;
  /** Undefined: what is published is not signed. */
  readonly signer: ConfigSigner | undefined;
  now(): Date;
};

/** Brings accounts' entries in the CONFIG bucket to what PostgreSQL says they run. */
export type AccountPublisher = {
  /** Undefined for an account that has published nothing. */
  publish(bucket: Bucket, accountId: string): Promise<PublishedAccount | undefined>;
  /** The same, after a look at what the bucket really holds. */
  reconcile(bucket: Bucket, accountId: string): Promise<PublishedAccount | undefined>;
};

/** An entry of the bucket: its revision, the hash of its document and when that was signed; 0 and empty where there is none. */
type Held = { readonly revision: number; readonly digest: string; readonly signedAtMs: number };

const attemptsMax = 10;
const accountsRemembered = 10_000;

/**
 * The database is read after the entry and the write is conditional on it, so that a publisher that was held up can
 * never put an older state over a newer one. Entries it has written itself it need not read again: were one changed
 * or wiped since, the condition fails. An entry that bears no valid signature counts as none.
 */
export function createAccountPublisher({ storage, signer, now }: AccountPublisherOptions): AccountPublisher {
  const known = new LRUCache<string, Held>({ max: accountsRemembered });
  let newestMs = 0;
  const publish = async (bucket: Bucket, accountId: string): Promise<PublishedAccount | undefined> => {
    const key = accountKey(accountId);
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const held = known.get(accountId) ?? (await readHeld(bucket, accountId, signer));
      const document = await readAccountDocument(storage.fork(), accountId);
      if (document === undefined) return undefined;
      const encoded = encodeAccountConfig(document);
      const digest = digestOf(encoded);
      if (held.digest === digest) {
        known.set(accountId, held);
        return { revision: held.revision, written: false, bytes: encoded.length };
      }
      known.delete(accountId);
      // Readers refuse what was signed before what they have, and the clock may have been set back.
      const signedAtMs = Math.max(now().getTime(), held.signedAtMs + 1, newestMs + 1);
      newestMs = signedAtMs;
      const bytes = signer === undefined ? encoded : signer.sign(accountId, encoded, signedAtMs);
      const revision = await bucket.putIfUnchanged(key, bytes, held.revision);
      if (revision === undefined) continue;
      known.set(accountId, { revision, digest, signedAtMs });
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

async function readHeld(bucket: Bucket, accountId: string, signer: ConfigSigner | undefined): Promise<Held> {
  const entry = await bucket.get(accountKey(accountId));
  const revision = entry?.revision ?? 0;
  if (entry?.value === undefined) return { revision, digest: '', signedAtMs: 0 };
  if (signer === undefined) return { revision, digest: digestOf(withoutSignature(entry.value)), signedAtMs: 0 };
  const opened = signer.open(accountId, entry.value);
  return {
    revision,
    digest: opened === undefined ? '' : digestOf(opened.document),
    signedAtMs: opened?.signedAtMs ?? 0,
  };
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64');
}
