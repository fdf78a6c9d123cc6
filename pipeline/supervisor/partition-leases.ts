import type { Bucket } from '../../shared/log/bucket.ts';
import type { LogConnection } from '../../shared/log/connection.ts';
import { followHeard } from './heard-entries.ts';
import type { HeardEntries } from './heard-entries.ts';
import { silentForMs } from './membership.ts';

/**
 * Who resolves a partition. Order and deduplication want exactly one resolver, so unlike a dispatcher it starts only
 * once the one before has given its lease back or is silent, and stops when its lease is somebody else's.
 */
export type PartitionLeases = {
  /** Partitions asked for whose lease somebody else has. */
  readonly waiting: number;
  /** Asks for a partition's lease; `onHeld` is called when it is there. */
  want(partition: number): void;
  /** Gives it back; call it once the resolver has stopped. */
  giveBack(partition: number): Promise<void>;
  stop(): Promise<void>;
};

export type PartitionLeasesOptions = {
  readonly bucket: Bucket;
  readonly connection: LogConnection;
  readonly instanceId: string;
  onHeld(partition: number): void;
  onLost(partition: number): void;
  onError(error: unknown): void;
};

const renewEveryMs = 2_000;
const keyOf = (partition: number): string => `resolver.${partition}`;

export async function openPartitionLeases(options: PartitionLeasesOptions): Promise<PartitionLeases> {
  const { bucket, connection, onError } = options;
  const filter = 'resolver.*';
  const heard = await followHeard({ bucket, connection, filter, onChanged: () => undefined, onError });
  return new Leases(options, heard);
}

class Leases implements PartitionLeases {
  readonly #options: PartitionLeasesOptions;
  readonly #heard: HeardEntries;
  readonly #wanted = new Set<number>();
  readonly #held = new Set<number>();
  readonly #own: Uint8Array;
  readonly #timer: NodeJS.Timeout;
  #working: Promise<void> = Promise.resolve();

  constructor(options: PartitionLeasesOptions, heard: HeardEntries) {
    this.#options = options;
    this.#heard = heard;
    this.#own = Buffer.from(JSON.stringify({ instanceId: options.instanceId }));
    this.#timer = setInterval(() => this.#work([...this.#wanted]), renewEveryMs / 2);
  }

  get waiting(): number {
    return this.#wanted.size - this.#held.size;
  }

  want(partition: number): void {
    this.#wanted.add(partition);
    this.#work([partition]);
  }

  async giveBack(partition: number): Promise<void> {
    this.#wanted.delete(partition);
    await this.#working;
    if (!this.#held.delete(partition)) return;
    await this.#options.bucket.delete(keyOf(partition)).catch(this.#options.onError);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#held].map((partition) => this.giveBack(partition)));
    this.#heard.stop();
  }

  #work(partitions: readonly number[]): void {
    this.#working = this.#working
      .then(async () => {
        if (!this.#options.connection.connected) this.#heard.forgive();
        else await Promise.all(partitions.map((partition) => this.#take(partition)));
      })
      .catch(this.#options.onError);
  }

  /** Takes, keeps or loses the lease of one partition. */
  async #take(partition: number): Promise<void> {
    if (!this.#wanted.has(partition)) return;
    const entry = this.#heard.entries.get(keyOf(partition));
    const isOwn = entry !== undefined && Buffer.from(entry.value).equals(this.#own);
    const silenceMs = entry === undefined ? Infinity : performance.now() - entry.heardAtMs;
    if (isOwn && this.#held.has(partition) && silenceMs < renewEveryMs) return;
    if (!isOwn && silenceMs < silentForMs) {
      this.#lose(partition);
      return;
    }
    const stored = await this.#store(partition, entry?.revision ?? 0);
    // Somebody else was first, or the entry has expired: the next look knows which.
    if (!stored || this.#held.has(partition)) return;
    this.#held.add(partition);
    this.#options.onHeld(partition);
  }

  async #store(partition: number, revision: number): Promise<boolean> {
    const { bucket } = this.#options;
    if ((await bucket.putIfUnchanged(keyOf(partition), this.#own, revision)) !== undefined) return true;
    // An entry that expired is not told of.
    if (revision === 0 || (await bucket.get(keyOf(partition))) !== undefined) return false;
    return (await bucket.putIfUnchanged(keyOf(partition), this.#own, 0)) !== undefined;
  }

  #lose(partition: number): void {
    if (this.#held.delete(partition)) this.#options.onLost(partition);
  }
}
