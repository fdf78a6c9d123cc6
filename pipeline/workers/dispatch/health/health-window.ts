import type { HealthMinute, HealthRecord } from '../../../../shared/contracts/health-record.ts';

/** What a dispatch attempt came to, as health counts it. */
export type HealthCount = 'succeeded' | 'failed' | 'stopped' | 'globalStop';

export type HealthSums = Record<HealthCount, number>;

const minuteMs = 60_000;
const windowMinutes = 24 * 60;

/** The minute since the epoch a time is in. */
export function minuteOf(atMs: number): number {
  return Math.floor(atMs / minuteMs);
}

type Bucket = { readonly minute: number; readonly sums: HealthSums };

/** Attempts of the trailing 24 hours in buckets of one minute; only minutes in which something happened take memory. */
export class HealthWindow {
  /** Oldest first. */
  readonly #buckets: Bucket[];
  #lastDispatchedAtMs: number | null;

  /** Begins with what `record` holds, where there is one. */
  constructor(record?: HealthRecord) {
    this.#buckets = (record?.minutes ?? []).map(readMinute);
    this.#lastDispatchedAtMs = record?.lastDispatchedAt ?? null;
  }

  record(count: HealthCount, events: number, nowMs: number): void {
    const minute = minuteOf(nowMs);
    if (this.#buckets.at(-1)?.minute !== minute) this.#dropOld(minute);
    this.#bucketOf(minute).sums[count] += events;
    this.#lastDispatchedAtMs = Math.max(this.#lastDispatchedAtMs ?? nowMs, nowMs);
  }

  sums(nowMs: number): HealthSums {
    const total: HealthSums = { succeeded: 0, failed: 0, stopped: 0, globalStop: 0 };
    const oldest = minuteOf(nowMs) - windowMinutes;
    for (const { minute, sums } of this.#buckets) {
      if (minute <= oldest) continue;
      total.succeeded += sums.succeeded;
      total.failed += sums.failed;
      total.stopped += sums.stopped;
      total.globalStop += sums.globalStop;
    }
    return total;
  }

  /** The minutes from `fromMinute` on; by default all. */
  toRecord(nowMs: number, fromMinute = -Infinity): HealthRecord {
    this.#dropOld(minuteOf(nowMs));
    const first = this.#buckets.findLastIndex(({ minute }) => minute < fromMinute) + 1;
    return { v: 1, minutes: this.#buckets.slice(first).map(writeMinute), lastDispatchedAt: this.#lastDispatchedAtMs };
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
