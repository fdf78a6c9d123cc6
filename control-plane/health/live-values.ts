import { allHealth, decodeHealthRecord, joinHealth, pastHealthKey } from '../../shared/contracts/health-record.ts';
import type { HealthRecord } from '../../shared/contracts/health-record.ts';
import { allLags, decodeLagRecord } from '../../shared/contracts/resolve-lag.ts';
import type { LagRecord } from '../../shared/contracts/resolve-lag.ts';
import {
  allDispatched,
  allSources,
  decodeDispatched,
  decodeSourceRecord,
  newestInvalid,
  joinSourceRecords,
  pastSourceKey,
} from '../../shared/contracts/source-activity.ts';
import type { InvalidEvent, SourceRecord } from '../../shared/contracts/source-activity.ts';
import type { Bucket } from '../../shared/nats/buckets/bucket.ts';
import { defineService } from '../api/services.ts';
import type { DeliveryParts } from './delivery-report.ts';
import { createBucketCache } from '../publishing/bucket-cache.ts';

/** The latest reports of gateways and pipelines about sources and destinations. */
export type LiveValues = {
  /** Most recent inbound request of a source, ms since the epoch. */
  lastTriggeredAt(sourceId: string): number | null;
  /** Most recent event of a source that reached a destination, ms since the epoch. */
  lastDispatchedAt(sourceId: string): number | null;
  healthReports(destinationId: string): readonly HealthRecord[];
  /**
   * Counts of a destination's events by stage, from each pipeline: the counts stored in full, then the counts changed
   * since.
   */
  deliveryReports(destinationId: string): readonly DeliveryParts[];
  /** The newest event of a source that a gateway rejected as invalid. */
  lastInvalid(sourceId: string): InvalidEvent | null;
  /** The counts of each gateway for a source. */
  sourceReports(sourceId: string): readonly SourceRecord[];
  /** How long events waited to be resolved, as reported by each pipeline that measured it. */
  lagReports(): readonly LagRecord[];
  follow(bucket: Bucket): Promise<void>;
  stop(): void;
};

export const liveValues = defineService<LiveValues>('live values');

/** Follows the HEALTH bucket. */
export function createLiveValues(): LiveValues {
  const sources = createBucketCache(allSources, decodeSourceRecord);
  const lags = createBucketCache(allLags, decodeLagRecord);
  const dispatched = createBucketCache(allDispatched, decodeDispatched);
  const health = createBucketCache(allHealth, decodeHealthRecord);
  const caches = [sources, dispatched, health, lags];
  return {
    lastTriggeredAt: (sourceId) => latest(sources.valuesOf(sourceId).map(({ lastTriggeredAt }) => lastTriggeredAt)),
    lastInvalid: (sourceId) => newestInvalid(sources.valuesOf(sourceId).map(({ lastInvalid }) => lastInvalid)),
    lastDispatchedAt: (sourceId) => latest(dispatched.valuesOf(sourceId)),
    healthReports: (destinationId) => joined(health.entriesOf(destinationId), pastHealthKey, joinHealth),
    deliveryReports: (destinationId) => partsOf(health.entriesOf(destinationId)),
    sourceReports: (sourceId) => joined(sources.entriesOf(sourceId), pastSourceKey, joinSourceRecords),
    lagReports: () => [...lags.entries.values()].map(({ value }) => value),
    async follow(bucket) {
      await Promise.all(caches.map((cache) => cache.follow(bucket)));
    },
    stop() {
      for (const cache of caches) cache.stop();
    },
  };
}

/** Joins the recent and the past entry of each reporter into one. */
function joined<Record>(
  entries: ReadonlyMap<string, Record>,
  pastKey: (key: string) => string,
  join: (past: Record | undefined, recent: Record) => Record,
): Record[] {
  const pasts = new Set([...entries.keys()].map(pastKey));
  return [...entries].flatMap(([key, record]) => (pasts.has(key) ? [] : [join(entries.get(pastKey(key)), record)]));
}

function partsOf(entries: ReadonlyMap<string, HealthRecord>): DeliveryParts[] {
  const pasts = new Set([...entries.keys()].map(pastHealthKey));
  return [...entries]
    .filter(([key]) => !pasts.has(key))
    .map(([key, { delivery }]) => [entries.get(pastHealthKey(key))?.delivery, delivery]);
}

function latest(times: readonly (number | null)[]): number | null {
  return times.reduce<number | null>(
    (newest, time) => (time !== null && time > (newest ?? -Infinity) ? time : newest),
    null,
  );
}
