import { decodeOAuthEntry, encodeOAuthEntry, oauthEntryKey } from '../../contracts/config/oauth-entry.ts';
import type { OAuthEntry } from '../../contracts/config/oauth-entry.ts';
import type { SecretBox } from '../../contracts/config/secrets.ts';
import type { Bucket } from '../../nats/buckets/bucket.ts';

export type StoredEntry = { readonly entry: OAuthEntry | undefined; readonly revision: number };

/** Store in which processes share tokens, by the hash of the grant. */
export type TokenStore = {
  read(grantHash: string): Promise<StoredEntry>;
  /** Writes only if the entry is still at `revision`; returns the new revision, otherwise undefined. */
  write(grantHash: string, entry: OAuthEntry, revision: number): Promise<number | undefined>;
};

/** A store of sealed tokens in the TOKENS bucket. `bucket` is called each time, since the log may be reconnected. */
export function createBucketTokenStore(bucket: () => Bucket, box: SecretBox): TokenStore {
  return {
    async read(grantHash) {
      const key = oauthEntryKey(grantHash);
      const found = await bucket().get(key);
      return { entry: decodeOAuthEntry(found?.value, box, key), revision: found?.revision ?? 0 };
    },
    write(grantHash, entry, revision) {
      const key = oauthEntryKey(grantHash);
      return bucket().putIfUnchanged(key, encodeOAuthEntry(entry, box, key), revision);
    },
  };
}
