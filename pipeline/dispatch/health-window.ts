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
  // Oldest first.
  const buckets: Bucket[] = (record?.minutes ?? []).map(readMinute);
  let lastDispatchedAtMs = record?.lastDispatchedAt ?? null;

  const bucketOf = (minute: number): Bucket => {
    // Nearly always the last one; only a clock set back looks further.
    let index = buckets.length - 1;
    for (; index >= 0; index -= 1) {
      const bucket = buckets[index];
      if (bucket === undefined || bucket.minute < minute) break;
      if (bucket.minute === minute) return bucket;
    }
    const made: Bucket = { minute, sums: { succeeded: 0, failed: 0, stopped: 0, globalStop: 0 } };
    buckets.splice(index + 1, 0, made);
    return made;
  };

  const dropOld = (nowMinute: number): void => {
    const firstKept = buckets.findIndex(({ minute }) => minute > nowMinute - windowMinutes);
    buckets.splice(0, firstKept === -1 ? buckets.length : firstKept);
  };

  return {
    record(count, events, nowMs) {
      const minute = Math.floor(nowMs / minuteMs);
      if (buckets.at(-1)?.minute !== minute) dropOld(minute);
      bucketOf(minute).sums[count] += events;
      lastDispatchedAtMs = Math.max(lastDispatchedAtMs ?? nowMs, nowMs);
    },
    sums(nowMs) {
      const total: HealthSums = { succeeded: 0, failed: 0, stopped: 0, globalStop: 0 };
      const oldest = Math.floor(nowMs / minuteMs) - windowMinutes;
      for (const { minute, sums } of buckets) {
        if (minute <= oldest) continue;
        total.succeeded += sums.succeeded;
        total.failed += sums.failed;
        total.stopped += sums.stopped;
        total.globalStop += sums.globalStop;
      }
      return total;
    },
    toRecord(nowMs) {
      dropOld(Math.floor(nowMs / minuteMs));
      return { v: 1, minutes: buckets.map(writeMinute), lastDispatchedAt: lastDispatchedAtMs };
    },
  };
}

function readMinute([minute, succeeded, failed, stopped, globalStop]: HealthMinute): Bucket {
  return { minute, sums: { succeeded, failed, stopped, globalStop } };
}

function writeMinute({ minute, sums }: Bucket): HealthMinute {
  return [minute, sums.succeeded, sums.failed, sums.stopped, sums.globalStop];
}
