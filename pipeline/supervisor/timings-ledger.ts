import { addNumbers } from '../../shared/runtime/metrics/bucket-counts.ts';
import type { ThreadTimings, TimedMetric } from '../workers/dispatch/sending/delivery-timings.ts';

/** Histograms of all threads, added up; what a thread counted before it died is kept. */
export type TimingsLedger = {
  reported(thread: number, timings: ThreadTimings): void;
  threadDied(thread: number): void;
  /** By type of destination. */
  totals(metric: TimedMetric): ReadonlyMap<string, Float64Array>;
};

export function createTimingsLedger(): TimingsLedger {
  const running = new Map<number, ThreadTimings>();
  const past: Record<TimedMetric, Map<string, Float64Array>> = { dispatchDuration: new Map(), eventAge: new Map() };
  const addTo = (sums: Map<string, Float64Array>, timings: ThreadTimings, metric: TimedMetric): void => {
    for (const [type, times] of Object.entries(timings)) sums.set(type, addNumbers(sums.get(type), times[metric]));
  };
  return {
    reported: (thread, timings) => void running.set(thread, timings),
    threadDied(thread) {
      const last = running.get(thread) ?? {};
      running.delete(thread);
      addTo(past.dispatchDuration, last, 'dispatchDuration');
      addTo(past.eventAge, last, 'eventAge');
    },
    totals(metric) {
      const sums = new Map([...past[metric]].map(([type, numbers]) => [type, Float64Array.from(numbers)]));
      for (const timings of running.values()) addTo(sums, timings, metric);
      return sums;
    },
  };
}
