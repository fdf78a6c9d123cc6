import {
  decodeOAuthEntry,
  encodeOAuthEntry,
  oauthEntryKey,
  oauthUseKey,
  oauthUsesOfAccount,
} from '../../contracts/config/oauth-entry.ts';
import type { OAuthEntry } from '../../contracts/config/oauth-entry.ts';
import type { SecretBox } from '../../contracts/config/secrets.ts';
import { keptOfQuota } from '../../limits/index.ts';
import type { Bucket, BucketEntry } from '../../nats/buckets/bucket.ts';
import { tokensBytesMax } from '../../nats/buckets/open-buckets.ts';
import { readEntries } from '../../nats/buckets/read-entries.ts';

export type StoredEntry = { readonly entry: OAuthEntry | undefined; readonly revision: number };

/** Store in which processes share tokens, by the hash of the grant. */
export type TokenStore = {
  read(grantHash: string): Promise<StoredEntry>;
  /**
   * Writes only if the entry is still at `revision`; returns the new revision, otherwise undefined. The entry counts
   * towards the quota of the account.
   */
  write(accountId: string, grantHash: string, entry: OAuthEntry, revision: number): Promise<number | undefined>;
};

/** Quota of an account in the bucket, which all accounts share: a sixteenth of it. */
const bytesOfAccountMax = tokensBytesMax / 16;
/** Bytes that the log stores with each entry and with the record of its size. */
const headBytes = 512;
/** Sizes are rounded up to this, so that a token that is a little longer than the previous one costs no check. */
const sizeStepBytes = 1_024;

/** A store of sealed tokens in the TOKENS bucket. `bucket` is called each time, since the log may be reconnected. */
export function createBucketTokenStore(bucket: () => Bucket, box: SecretBox): TokenStore {
  const read = async (grantHash: string): Promise<StoredEntry> => {
    const key = oauthEntryKey(grantHash);
    const found = await bucket().get(key);
    return { entry: decodeOAuthEntry(found?.value, box, key), revision: found?.revision ?? 0 };
  };
  /** Removes entries of the account, so that it is clearly within its quota: first those without a refresh token. */
  const remove = async (accountId: string, uses: readonly Use[], usedBytes: number): Promise<void> => {
    const stored = await Promise.all(uses.map(async (use) => ({ ...use, ...(await read(use.grantHash)) })));
    const isNeeded = ({ entry }: StoredEntry): number => (entry?.refreshToken === undefined ? 0 : 1);
    let used = usedBytes;
    for (const one of stored.toSorted((a, b) => isNeeded(a) - isNeeded(b) || a.revision - b.revision)) {
      if (used <= keptOfQuota(bytesOfAccountMax)) return;
      await bucket().delete(oauthEntryKey(one.grantHash));
      await bucket().delete(oauthUseKey(accountId, one.grantHash));
      used -= one.bytes;
    }
  };
  const makeRoom = async (accountId: string, grantHash: string, bytes: number): Promise<void> => {
    const useKey = oauthUseKey(accountId, grantHash);
    if (bytesOfUse(await bucket().get(useKey)) >= bytes) return;
    const found = await readEntries(bucket(), oauthUsesOfAccount(accountId));
    const others = found
      .filter(({ key }) => key !== useKey)
      .map((use) => ({ grantHash: use.key.split('.').at(-1) ?? '', bytes: bytesOfUse(use) }));
    const used = others.reduce((sum, use) => sum + use.bytes, bytes);
    if (used > bytesOfAccountMax) await remove(accountId, others, used);
    await bucket().put(useKey, Buffer.from(String(bytes)));
  };
  return {
    read,
    async write(accountId, grantHash, entry, revision) {
      const key = oauthEntryKey(grantHash);
      const value = encodeOAuthEntry(entry, box, key);
      await makeRoom(accountId, grantHash, Math.ceil((value.length + headBytes) / sizeStepBytes) * sizeStepBytes);
      return bucket().putIfUnchanged(key, value, revision);
    },
  };
}

type Use = { readonly grantHash: string; readonly bytes: number };

const bytesOfUse = (use: BucketEntry | undefined): number => Number(Buffer.from(use?.value ?? []).toString());
