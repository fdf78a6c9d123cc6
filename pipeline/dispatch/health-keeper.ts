import type { Bucket } from '../../shared/log/bucket.ts';
import { assertId } from '../../shared/log/subjects.ts';
import { createHealthWindow } from './health-window.ts';
import type { HealthCount, HealthRecord } from './health-window.ts';

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
  const { bucket, destinationId, instanceId, flushEveryMs, onError } = options;
  const key = `destination.${assertId(destinationId)}.${assertId(instanceId)}`;
  const window = createHealthWindow(readRecord((await bucket.get(key))?.value));
  let waiting: (() => void)[] = [];
  let isDirty = false;
  let lastFlushMs = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> | undefined;

  const flush = async (): Promise<void> => {
    const covered = waiting;
    waiting = [];
    try {
      if (isDirty) {
        isDirty = false;
        lastFlushMs = performance.now();
        await bucket.put(key, Buffer.from(JSON.stringify(window.toRecord(Date.now()))));
      }
    } catch (error) {
      isDirty = true;
      waiting = [...covered, ...waiting];
      lastFlushMs = performance.now() + retryMs - flushEveryMs;
      onError(error);
      return;
    }
    for (const acknowledge of covered) acknowledge();
  };

  const schedule = (): void => {
    if (timer !== undefined || flushing !== undefined) return;
    const waitMs = Math.max(0, lastFlushMs + flushEveryMs - performance.now());
    timer = setTimeout(() => {
      timer = undefined;
      flushing = flush().finally(() => {
        flushing = undefined;
        if (isDirty || waiting.length > 0) schedule();
      });
    }, waitMs);
  };

  return {
    record(count, events) {
      window.record(count, events, Date.now());
      isDirty = true;
    },
    commit(acknowledge) {
      if (!isDirty && flushing === undefined) {
        acknowledge();
        return;
      }
      waiting.push(acknowledge);
      schedule();
    },
    async stop() {
      clearTimeout(timer);
      // Keeps a flush that ends now from planning another one.
      timer = setTimeout(() => undefined, 0);
      await flushing;
      clearTimeout(timer);
      await flush();
    },
  };
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
