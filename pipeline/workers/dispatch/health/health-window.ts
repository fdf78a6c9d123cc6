import type { HealthMinute, HealthRecord } from '../../../../shared/contracts/health-record.ts';

/** The result of an attempt in health counts. */
export type HealthCount = 'succeeded' | 'failed' | 'stopped' | 'globalStop';

export type HealthSums = Record<HealthCount, number>;

const minuteMs = 60_000;
const hourMinutes = 60;
const windowMinutes = 24 * hourMinutes;

/** The minute that contains a time, in minutes since the epoch. */
export function minuteOf(atMs: number): number {
  return Math.floor(atMs / minuteMs);
}

type Bucket = { readonly minute: number; readonly sums: HealthSums };

/**
 * Attempts in steps of one minute for the last 24 hours, and in steps of one hour before that. Only steps with attempts
 * take memory.
 */
export class HealthWindow {
  /** Oldest first. */
  readonly #buckets: Bucket[];
  /** Counts by hour, in hours since the epoch. */
  readonly #hours: Map<number, HealthSums>;
  readonly #hoursKept: number;
  #hoursUntil: number;
  #lastDispatchedAtMs: number | null;

  /** Begins with the counts of `record`, if given. Keeps the counts of the last `hoursKept` hours. */
  constructor(hoursKept: number, record?: HealthRecord) {
    this.#hoursKept = hoursKept;
    this.#buckets = (record?.minutes ?? []).map(readMinute);
    this.#hours = new Map((record?.hours ?? []).map(([hour, ...counts]) => [hour, readCounts(counts)]));
    this.#hoursUntil = record?.hoursUntil ?? -Infinity;
    this.#lastDispatchedAtMs = record?.lastDispatchedAt ?? null;
  }

  /** Minutes before this one are counted in hours. */
  get hoursUntil(): number {
    return this.#hoursUntil;
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

  /** The whole window, with minutes and hours. */
  toRecord(nowMs: number): HealthRecord {
    const record = this.minutesFrom(-Infinity, nowMs);
    if (this.#hours.size === 0) return record;
    const hours = [...this.#hours].toSorted(([a], [b]) => a - b).map(([hour, sums]) => writeStep(hour, sums));
    return { ...record, hours, hoursUntil: this.#hoursUntil };
  }

  /** The minutes from `fromMinute` on, without any hours. */
  minutesFrom(fromMinute: number, nowMs: number): HealthRecord {
    this.#dropOld(minuteOf(nowMs));
    const first = this.#buckets.findLastIndex(({ minute }) => minute < fromMinute) + 1;
    const minutes = this.#buckets.slice(first).map(({ minute, sums }) => writeStep(minute, sums));
    return { v: 1, minutes, lastDispatchedAt: this.#lastDispatchedAtMs };
  }

  #bucketOf(minute: number): Bucket {
    // The search ends at the last bucket, unless the clock was set back.
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
    const old = this.#buckets.splice(0, firstKept === -1 ? this.#buckets.length : firstKept);
    for (const { minute, sums } of old) {
      addTo(this.#hours, Math.floor(minute / hourMinutes), sums);
      this.#hoursUntil = Math.max(this.#hoursUntil, minute + 1);
    }
    const oldestHour = Math.floor(nowMinute / hourMinutes) - this.#hoursKept;
    for (const hour of this.#hours.keys()) if (hour <= oldestHour) this.#hours.delete(hour);
  }
}

function addTo(hours: Map<number, HealthSums>, hour: number, sums: HealthSums): void {
  const known = hours.get(hour) ?? { succeeded: 0, failed: 0, stopped: 0, globalStop: 0 };
  known.succeeded += sums.succeeded;
  known.failed += sums.failed;
  known.stopped += sums.stopped;
  known.globalStop += sums.globalStop;
  hours.set(hour, known);
}

function readMinute([minute, ...counts]: HealthMinute): Bucket {
  return { minute, sums: readCounts(counts) };
}

function readCounts([succeeded, failed, stopped, globalStop]: readonly [number, number, number, number]): HealthSums {
  return { succeeded, failed, stopped, globalStop };
}

function writeStep(step: number, { succeeded, failed, stopped, globalStop }: HealthSums): HealthMinute {
  return [step, succeeded, failed, stopped, globalStop];
}
