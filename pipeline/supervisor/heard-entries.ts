import type { Bucket, BucketWatch } from '../../shared/log/bucket.ts';

/** An entry of the LEASES bucket, and when we last heard of it: by our own clock, which others may not share. */
export type HeardEntry = { readonly revision: number; readonly value: Uint8Array; heardAtMs: number };

export type HeardEntries = {
  readonly entries: ReadonlyMap<string, HeardEntry>;
  /** Silence while we were away ourselves says nothing of others. */
  forgive(): void;
  stop(): void;
};

/** Follows the entries that match; returns once those that are there are known. */
export async function followHeard(bucket: Bucket, filter: string, onChanged: () => void): Promise<HeardEntries> {
  const entries = new Map<string, HeardEntry>();
  let watch: BucketWatch | undefined;
  await new Promise<void>((resolve, reject) => {
    bucket
      .watch({
        filter,
        onEntry: ({ key, value, revision }) => {
          if (value === undefined) entries.delete(key);
          else entries.set(key, { revision, value, heardAtMs: performance.now() });
          onChanged();
        },
        onReady: resolve,
      })
      .then((opened) => {
        watch = opened;
      }, reject);
  });
  return {
    entries,
    forgive() {
      for (const entry of entries.values()) entry.heardAtMs = performance.now();
    },
    stop: () => watch?.stop(),
  };
}
