/** What a dispatch attempt came to, as health counts it. */
export type HealthCount = 'succeeded' | 'failed' | 'stopped' | 'globalStop';

export type HealthSums = Record<HealthCount, number>;

/** One minute in the stored form: minute since the epoch, succeeded, failed, stopped, globalStop. */
export type HealthMinute = readonly [number, number, number, number, number];

/** Stored form of a window: value of `destination.<id>.<instance>` in the HEALTH bucket. */
export type HealthRecord = {
  readonly v: 1;
  /** Minutes in which something happened, oldest first. */
  readonly minutes: readonly HealthMinute[];
  /** Ms since the epoch. */
  readonly lastDispatchedAt: number | null;
};

/** Attempts of the trailing 24 hours in buckets of one minute; only minutes in which something happened take memory. */
export type HealthWindow = {
  record(count: HealthCount, events: number, nowMs: number): void;
  sums(nowMs: number): HealthSums;
  toRecord(nowMs: number): HealthRecord;
};

const minuteMs = 60_000;
const windowMinutes = 24 * 60;

type Bucket = { readonly minute: number; readonly sums: HealthSums };

/** Opens a window, with what `record` holds where there is one. */
export function createHealthWindow(record?: HealthRecord): HealthWindow {
  return new MinuteBuckets(record);
}

class MinuteBuckets implements HealthWindow {
  /** Oldest first. */
  readonly #buckets: Bucket[];
  #lastDispatchedAtMs: number | null;

  constructor(record: HealthRecord | undefined) {
    this.#buckets = (record?.minutes ?? []).map(readMinute);
    this.#lastDispatchedAtMs = record?.lastDispatchedAt ?? null;
  }

  record(count: HealthCount, events: number, nowMs: number): void {
    const minute = Math.floor(nowMs / minuteMs);
    if (this.#buckets.at(-1)?.minute !== minute) this.#dropOld(minute);
    this.#bucketOf(minute).sums[count] += events;
    this.#lastDispatchedAtMs = Math.max(this.#lastDispatchedAtMs ?? nowMs, nowMs);
  }

  sums(nowMs: number): HealthSums {
    const total: HealthSums = { succeeded: 0, failed: 0, stopped: 0, globalStop: 0 };
    const oldest = Math.floor(nowMs / minuteMs) - windowMinutes;
    for (const { minute, sums } of this.#buckets) {
      if (minute <= oldest) continue;
      total.succeeded += sums.succeeded;
      total.failed += sums.failed;
      total.stopped += sums.stopped;
      total.globalStop += sums.globalStop;
    }
    return total;
  }

  toRecord(nowMs: number): HealthRecord {
    this.#dropOld(Math.floor(nowMs / minuteMs));
    return { v: 1, minutes: this.#buckets.map(writeMinute), lastDispatchedAt: this.#lastDispatchedAtMs };
  }

  #bucketOf(minute: number): Bucket {
    // Nearly always the last one; only a clock set back looks further.
    let index = this.#buckets.length - 1;
    for (; index >= 0; index -= 1) {
      const bucket = this.#buckets[index];
      if (bucket === undefined || bucket.minute < minute) break;
      if (bucket.minute === minute) return bucket;
    }
    const made: Bucket = { minute, sums: { succeeded: 0, failed: 0, stopped: 0, globalStop: 0 } };
    this.#buckets.splice(index + 1, 0, made);
    return made;
  }

  #dropOld(nowMinute: number): void {
    const firstKept = this.#buckets.findIndex(({ minute }) => minute > nowMinute - windowMinutes);
    this.#buckets.splice(0, firstKept === -1 ? this.#buckets.length : firstKept);
  }
}

function readMinute([minute, succeeded, failed, stopped, globalStop]: HealthMinute): Bucket {
  return { minute, sums: { succeeded, failed, stopped, globalStop } };
}

function writeMinute({ minute, sums }: Bucket): HealthMinute {
  return [minute, sums.succeeded, sums.failed, sums.stopped, sums.globalStop];
}
