import { afterReconnect } from '../connection/after-reconnect.ts';
import type { LogConnection } from '../connection/connection.ts';
import type { Bucket, BucketWatch } from './bucket.ts';

/** An entry of the LEASES bucket, and when this process last received it, by its own clock. */
export type HeardEntry = { readonly revision: number; readonly value: Uint8Array; heardAtMs: number };

export type HeardEntries = {
  readonly entries: ReadonlyMap<string, HeardEntry>;
  /** Silence while we were away ourselves says nothing of others. */
  forgive(): void;
  stop(): void;
};

export type HeardEntriesOptions = {
  readonly bucket: Bucket;
  readonly connection: LogConnection;
  readonly filter: string;
  onChanged(): void;
  onError(error: unknown): void;
};

/** Follows the entries that match; returns once those that are there are known. */
export async function followHeard(options: HeardEntriesOptions): Promise<HeardEntries> {
  const entries = new Map<string, HeardEntry>();
  let watch: BucketWatch | undefined;
  const follow = async (): Promise<void> => {
    watch?.stop();
    let isKnown: () => void = () => undefined;
    const known = new Promise<void>((resolve) => {
      isKnown = resolve;
    });
    watch = await options.bucket.watch({
      filter: options.filter,
      onEntry: ({ key, value, revision }) => {
        if (value === undefined) entries.delete(key);
        else entries.set(key, { revision, value, heardAtMs: performance.now() });
        options.onChanged();
      },
      onReady: () => isKnown(),
    });
    await known;
  };
  await follow();
  const again = afterReconnect(options.connection, follow, options.onError);
  return {
    entries,
    forgive() {
      for (const entry of entries.values()) entry.heardAtMs = performance.now();
    },
    stop() {
      again.stop();
      watch?.stop();
    },
  };
}
