import type { Bucket, BucketWatch } from '../../shared/nats/buckets/bucket.ts';

/** The newest entries of a bucket in memory, available even if the log is not. */
export type BucketCache<Value> = {
  readonly entries: ReadonlyMap<string, CachedEntry<Value>>;
  /** The values whose key has this second part, by key: the reports of all instances about one subject. */
  entriesOf(subject: string): ReadonlyMap<string, Value>;
  valuesOf(subject: string): Value[];
  /** Reads the bucket's present entries and follows their changes. Removed entries are forgotten. */
  follow(bucket: Bucket): Promise<void>;
  stop(): void;
};

export type CachedEntry<Value> = {
  readonly value: Value;
  /** When it was received, by the monotonic clock, in ms. */
  readonly receivedAtMs: number;
};

/** `read` turns an entry's bytes into a value; it returns undefined for bytes that this build does not understand. */
export function createBucketCache<Value>(
  filter: string,
  read: (bytes: Uint8Array) => Value | undefined,
): BucketCache<Value> {
  let entries = new Map<string, CachedEntry<Value>>();
  let keysBySubject = new Map<string, Set<string>>();
  let watch: BucketWatch | undefined;
  const entriesOf = (subject: string): ReadonlyMap<string, Value> => {
    const keys = [...(keysBySubject.get(subject) ?? [])];
    return new Map(
      keys.flatMap((key) => {
        const entry = entries.get(key);
        return entry === undefined ? [] : [[key, entry.value] as const];
      }),
    );
  };
  return {
    get entries() {
      return entries;
    },
    entriesOf,
    valuesOf: (subject) => [...entriesOf(subject).values()],
    async follow(bucket) {
      const previous = watch;
      const fresh = new Map<string, CachedEntry<Value>>();
      const freshKeys = new Map<string, Set<string>>();
      watch = await bucket.watch({
        filter,
        onEntry: ({ key, value: bytes }) => {
          const value = bytes === undefined ? undefined : read(bytes);
          const subject = subjectOf(key);
          const keys = freshKeys.get(subject);
          if (value === undefined) {
            fresh.delete(key);
            keys?.delete(key);
            if (keys?.size === 0) freshKeys.delete(subject);
            return;
          }
          fresh.set(key, { value, receivedAtMs: performance.now() });
          if (keys === undefined) freshKeys.set(subject, new Set([key]));
          else keys.add(key);
        },
        onReady: () => {
          entries = fresh;
          keysBySubject = freshKeys;
        },
      });
      previous?.stop();
    },
    stop: () => watch?.stop(),
  };
}

function subjectOf(key: string): string {
  return key.split('.', 2)[1] ?? '';
}
