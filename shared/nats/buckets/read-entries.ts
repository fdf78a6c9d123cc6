import type { Bucket, BucketEntry, BucketWatch } from './bucket.ts';

/** A read of the entries may take this long, in ms. */
const readMs = 10_000;

/** Every present entry whose key matches, read with one watch: there may be many. */
export async function readEntries(bucket: Bucket, filter: string): Promise<readonly BucketEntry[]> {
  const entries: BucketEntry[] = [];
  let watch: BucketWatch | undefined;
  let late: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      late = setTimeout(() => reject(new Error(`reading ${filter}: the log does not answer`)), readMs);
      bucket
        .watch({
          filter,
          onEntry: (entry) => {
            if (entry.value !== undefined) entries.push(entry);
          },
          onReady: resolve,
        })
        .then((opened) => (watch = opened), reject);
    });
  } finally {
    clearTimeout(late);
    watch?.stop();
  }
  return entries;
}
