import { BucketCounts } from '../../../../shared/runtime/metrics/bucket-counts.ts';
import type { BucketNumbers } from '../../../../shared/runtime/metrics/bucket-counts.ts';
import { histogram } from '../../../../shared/runtime/metrics/define-metric.ts';

/** Times of deliveries by type of destination, never by destination. */
export const deliveryMetrics = {
  dispatchDuration: histogram(
    'sluice_dispatch_duration_seconds',
    'Time a destination took to answer for a batch of events',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    ['destination_type'],
  ),
  eventAge: histogram(
    'sluice_event_age_seconds',
    'Age of an event when it was delivered, from the moment it was accepted',
    [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 300, 1_800, 14_400],
    ['destination_type'],
  ),
};

export type TimedMetric = keyof typeof deliveryMetrics;

/** The times of one thread's deliveries, in plain numbers. */
export type DeliveryTimings = {
  /** The times of a type of destination; created at the first call. */
  of(destinationType: string): Readonly<Record<TimedMetric, BucketCounts>>;
  snapshot(): ThreadTimings;
};

/** The times by type of destination, in the form in which they are sent to the main thread. */
export type ThreadTimings = Readonly<Record<string, Readonly<Record<TimedMetric, BucketNumbers>>>>;

export function createDeliveryTimings(): DeliveryTimings {
  const byType = new Map<string, Readonly<Record<TimedMetric, BucketCounts>>>();
  return {
    of(destinationType) {
      const known = byType.get(destinationType);
      if (known !== undefined) return known;
      const made = {
        dispatchDuration: new BucketCounts(deliveryMetrics.dispatchDuration.bounds),
        eventAge: new BucketCounts(deliveryMetrics.eventAge.bounds),
      };
      byType.set(destinationType, made);
      return made;
    },
    snapshot: () =>
      Object.fromEntries(
        [...byType].map(([type, { dispatchDuration, eventAge }]) => [
          type,
          { dispatchDuration: dispatchDuration.numbers, eventAge: eventAge.numbers },
        ]),
      ),
  };
}
