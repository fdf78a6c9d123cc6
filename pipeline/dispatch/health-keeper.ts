import type { Bucket } from '../../shared/log/bucket.ts';
import { assertId } from '../../shared/log/subjects.ts';
import { createHealthWindow } from './health-window.ts';
import type { HealthCount, HealthRecord, HealthWindow } from './health-window.ts';

/** The health window of one destination, stored before what it counts is acknowledged. */
export type HealthKeeper = {
  record(count: HealthCount, events: number): void;
  /** Calls `acknowledge` once everything recorded so far is stored. */
  commit(acknowledge: () => void): void;
  /** Stores what is left. */
  stop(): Promise<void>;
};

export type HealthKeeperOptions = {
  readonly bucket: Bucket;
  readonly destinationId: string;
  readonly instanceId: string;
  /** Writes are at least this far apart, in ms. */
  readonly flushEveryMs: number;
  onError(error: unknown): void;
};

const retryMs = 500;

/** Restores the window this instance stored last and goes on from there. */
export async function openHealthKeeper(options: HealthKeeperOptions): Promise<HealthKeeper> {
  const { bucket, destinationId, instanceId } = options;
  const key = `destination.${assertId(destinationId)}.${assertId(instanceId)}`;
  return new WindowKeeper(options, key, createHealthWindow(readRecord((await bucket.get(key))?.value)));
}

class WindowKeeper implements HealthKeeper {
  readonly #options: HealthKeeperOptions;
  readonly #key: string;
  readonly #window: HealthWindow;
  #waiting: (() => void)[] = [];
  #isDirty = false;
  #lastFlushMs = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;

  constructor(options: HealthKeeperOptions, key: string, window: HealthWindow) {
    this.#options = options;
    this.#key = key;
    this.#window = window;
  }

  record(count: HealthCount, events: number): void {
    this.#window.record(count, events, Date.now());
    this.#isDirty = true;
  }

  commit(acknowledge: () => void): void {
    if (!this.#isDirty && this.#flushing === undefined) {
      acknowledge();
      return;
    }
    this.#waiting.push(acknowledge);
    this.#schedule();
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    // Keeps a flush that ends now from planning another one.
    this.#timer = setTimeout(() => undefined, 0);
    await this.#flushing;
    clearTimeout(this.#timer);
    await this.#flush();
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#flushing !== undefined) return;
    const waitMs = Math.max(0, this.#lastFlushMs + this.#options.flushEveryMs - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#flushing = this.#flush().finally(() => {
        this.#flushing = undefined;
        if (this.#isDirty || this.#waiting.length > 0) this.#schedule();
      });
    }, waitMs);
  }

  async #flush(): Promise<void> {
    const { bucket, flushEveryMs, onError } = this.#options;
    const covered = this.#waiting;
    this.#waiting = [];
    try {
      if (this.#isDirty) {
        this.#isDirty = false;
        this.#lastFlushMs = performance.now();
        await bucket.put(this.#key, Buffer.from(JSON.stringify(this.#window.toRecord(Date.now()))));
      }
    } catch (error) {
      this.#isDirty = true;
      this.#waiting = [...covered, ...this.#waiting];
      this.#lastFlushMs = performance.now() + retryMs - flushEveryMs;
      onError(error);
      return;
    }
    for (const acknowledge of covered) acknowledge();
  }
}

function readRecord(value: Uint8Array | undefined): HealthRecord | undefined {
  if (value === undefined) return undefined;
  try {
    const record = JSON.parse(Buffer.from(value).toString('utf8')) as HealthRecord;
    return record.v === 1 && Array.isArray(record.minutes) ? record : undefined;
  } catch {
    return undefined;
  }
}
