import { afterReconnect } from '../connection/after-reconnect.ts';
import type { LogConnection } from '../connection/connection.ts';
import type { Bucket, BucketWatch } from './bucket.ts';

/** An entry of the LEASES bucket, and when this process last received it, by its own clock. */
export type LeaseEntry = { readonly revision: number; readonly value: Uint8Array; receivedAtMs: number };

export type FollowedLeases = {
  readonly entries: ReadonlyMap<string, LeaseEntry>;
  /**
   * Counts every entry as received now: silence during a standstill of this process proves nothing about other
   * processes.
   */
  forgive(): void;
  /**
   * Removes entries received before `sinceMs`, by `performance.now()`. The bucket sends no event when an entry expires.
   */
  forgetBefore(sinceMs: number): void;
  stop(): void;
};

export type LeasesOptions = {
  readonly bucket: Bucket;
  readonly connection: LogConnection;
  readonly filter: string;
  onChanged(): void;
  onError(error: unknown): void;
};

/** Follows the entries that match `filter`, across reconnects. Resolves once the present entries are known. */
export async function followLeases(options: LeasesOptions): Promise<FollowedLeases> {
  const entries = new Map<string, LeaseEntry>();
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
        else entries.set(key, { revision, value, receivedAtMs: performance.now() });
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
      for (const entry of entries.values()) entry.receivedAtMs = performance.now();
    },
    forgetBefore(sinceMs) {
      for (const [key, { receivedAtMs }] of entries) if (receivedAtMs < sinceMs) entries.delete(key);
    },
    stop() {
      again.stop();
      watch?.stop();
    },
  };
}
