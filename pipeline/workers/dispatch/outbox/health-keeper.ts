import {
  decodeHealthRecord,
  encodeHealthRecord,
  joinHealth,
  pastHealthKey,
  recentHealthKey,
} from '../../../../shared/contracts/health-record.ts';
import type { HealthRecord, WrittenPlace } from '../../../../shared/contracts/health-record.ts';
import type { Bucket } from '../../../../shared/nats/buckets/bucket.ts';
import { createHealthWindow, minuteOf } from './health-window.ts';
import type { HealthCount, HealthWindow } from './health-window.ts';

/** The health window of one destination, stored before what it counts is acknowledged. */
export type HealthKeeper = {
  record(count: HealthCount, events: number): void;
  /** The place has changed: it is stored before long, though nothing waits for it. */
  moved(): void;
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
  /** What is settled, for the next dispatcher: stored with each write. */
  readonly place: () => WrittenPlace;
  onError(error: unknown): void;
};

const retryMs = 500;
/** Minutes of the recent entry before they are moved to that of the past. */
const recentMinutesMax = 30;

/** Restores the window this instance stored last and goes on from there. */
export async function openHealthKeeper(options: HealthKeeperOptions): Promise<HealthKeeper> {
  const { bucket, destinationId, instanceId } = options;
  const key = recentHealthKey(destinationId, instanceId);
  const [recent, past] = await Promise.all([bucket.get(key), bucket.get(pastHealthKey(key))]);
  return new WindowKeeper(options, key, decodeHealthRecord(recent?.value), decodeHealthRecord(past?.value));
}

class WindowKeeper implements HealthKeeper {
  readonly #options: HealthKeeperOptions;
  readonly #key: string;
  readonly #window: HealthWindow;
  /** Minutes before it are in the entry of the past, and have not changed since. */
  #pastUntil: number;
  #waiting: (() => void)[] = [];
  #isDirty = false;
  #isStopped = false;
  #lastFlushMs = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  /** Whether the timer may wait for more: no ack waits for it. */
  #isPatient = false;
  #flushing: Promise<void> | undefined;

  constructor(options: HealthKeeperOptions, key: string, recent = nothing, past?: HealthRecord) {
    this.#options = options;
    this.#key = key;
    this.#window = createHealthWindow(joinHealth(past, recent));
    const lastOfPast = past?.minutes.at(-1)?.[0] ?? -Infinity;
    this.#pastUntil = Math.min(recent.minutes[0]?.[0] ?? Infinity, lastOfPast + 1);
  }

  record(count: HealthCount, events: number): void {
    const nowMs = Date.now();
    this.#window.record(count, events, nowMs);
    // Only a clock that was set back counts in the past.
    this.#pastUntil = Math.min(this.#pastUntil, minuteOf(nowMs));
    this.moved();
  }

  moved(): void {
    this.#isDirty = true;
    this.#schedule(true);
  }

  commit(acknowledge: () => void): void {
    if (!this.#isDirty && this.#flushing === undefined) {
      acknowledge();
      return;
    }
    this.#waiting.push(acknowledge);
    this.#schedule(false);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#flushing;
    await this.#flush();
  }

  #schedule(isPatient: boolean): void {
    if (this.#flushing !== undefined || this.#isStopped) return;
    if (this.#timer !== undefined) {
      if (isPatient || !this.#isPatient) return;
      clearTimeout(this.#timer);
    }
    this.#isPatient = isPatient;
    const { flushEveryMs } = this.#options;
    const waitMs = isPatient ? flushEveryMs : Math.max(0, this.#lastFlushMs + flushEveryMs - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#flushing = this.#flush().finally(() => {
        this.#flushing = undefined;
        if (this.#isDirty || this.#waiting.length > 0) this.#schedule(this.#waiting.length === 0);
      });
    }, waitMs);
  }

  async #flush(): Promise<void> {
    const { flushEveryMs, onError } = this.#options;
    const covered = this.#waiting;
    this.#waiting = [];
    try {
      if (this.#isDirty) {
        this.#isDirty = false;
        this.#lastFlushMs = performance.now();
        await this.#store();
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

  async #store(): Promise<void> {
    const { bucket } = this.#options;
    const nowMs = Date.now();
    if (this.#window.toRecord(nowMs, this.#pastUntil).minutes.length > recentMinutesMax) {
      const before = this.#pastUntil;
      this.#pastUntil = minuteOf(nowMs);
      try {
        await bucket.put(pastHealthKey(this.#key), encodeHealthRecord(this.#window.toRecord(nowMs)));
      } catch (error) {
        this.#pastUntil = Math.min(this.#pastUntil, before);
        throw error;
      }
    }
    const record = this.#window.toRecord(Date.now(), this.#pastUntil);
    await bucket.put(this.#key, encodeHealthRecord({ ...record, place: this.#options.place() }));
  }
}

const nothing: HealthRecord = { v: 1, minutes: [], lastDispatchedAt: null };
