import { allHealth, decodeHealthRecord, joinHealth, pastHealthKey } from '../../shared/contracts/health-record.ts';
import type { HealthRecord } from '../../shared/contracts/health-record.ts';
import {
  allDispatched,
  allTriggered,
  decodeDispatched,
  decodeTriggered,
} from '../../shared/contracts/source-activity.ts';
import type { Bucket } from '../../shared/nats/buckets/bucket.ts';
import { createBucketCache } from '../publishing/bucket-cache.ts';

/** What gateways and pipelines report of sources and destinations, as of now. */
export type LiveValues = {
  /** Most recent inbound request of a source, ms since the epoch. */
  lastTriggeredAt(sourceId: string): number | null;
  /** Most recent event of a source that reached a destination, ms since the epoch. */
  lastDispatchedAt(sourceId: string): number | null;
  healthReports(destinationId: string): readonly HealthRecord[];
  follow(bucket: Bucket): Promise<void>;
  stop(): void;
};

/** Follows the HEALTH bucket. */
export function createLiveValues(): LiveValues {
  const triggered = createBucketCache(allTriggered, decodeTriggered);
  const dispatched = createBucketCache(allDispatched, decodeDispatched);
  const health = createBucketCache(allHealth, decodeHealthRecord);
  const caches = [triggered, dispatched, health];
  return {
    lastTriggeredAt: (sourceId) => latest(triggered.valuesOf(sourceId)),
    lastDispatchedAt: (sourceId) => latest(dispatched.valuesOf(sourceId)),
    healthReports(destinationId) {
      const entries = health.entriesOf(destinationId);
      const pasts = new Set([...entries.keys()].map(pastHealthKey));
      return [...entries].flatMap(([key, record]) =>
        pasts.has(key) ? [] : [joinHealth(entries.get(pastHealthKey(key)), record)],
      );
    },
    async follow(bucket) {
      await Promise.all(caches.map((cache) => cache.follow(bucket)));
    },
    stop() {
      for (const cache of caches) cache.stop();
    },
  };
}

function latest(times: readonly (number | null)[]): number | null {
  return times.reduce<number | null>(
    (newest, time) => (time !== null && time > (newest ?? -Infinity) ? time : newest),
    null,
  );
}
