import {
  decodeHealthRecord,
  encodeHealthRecord,
  healthOfAll,
  recentHealthOfAll,
} from '../../../../shared/contracts/health-record.ts';
import type { Bucket } from '../../../../shared/nats/buckets/bucket.ts';
import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import { readNext } from '../../../../shared/nats/messages/subject-log.ts';
import { buckets } from '../../../../shared/nats/streams/topology.ts';
import { readPlace } from '../sources/dispatch-place.ts';
import type { DispatchPlace } from '../sources/dispatch-place.ts';

/**
 * Reads the positions of a destination that earlier builds stored with its health, for all instances. `isKnown`: an
 * instance has stored health of the destination, with or without a position.
 */
export async function readHealthPlaces(
  connection: LogConnection,
  destinationId: string,
): Promise<{ readonly places: readonly DispatchPlace[]; readonly isKnown: boolean }> {
  const places: DispatchPlace[] = [];
  const subject = `$KV.${buckets.health}.${recentHealthOfAll(destinationId)}`;
  for (let seq = 1; ;) {
    const found = await readNext(connection, `KV_${buckets.health}`, subject, seq);
    if (found === undefined) return { places, isKnown: seq > 1 };
    seq = found.seq + 1;
    // A deleted entry has no position.
    const place = decodeHealthRecord(found.data)?.place;
    if (place !== undefined) places.push(readPlace(place));
  }
}

/**
 * Removes the position and the counts by event name from the health of a deleted destination. Counts of attempts stay,
 * since they contain no names.
 */
export async function forgetHealthPlaces(health: Bucket, destinationId: string): Promise<void> {
  for (const key of await health.keys(healthOfAll(destinationId))) {
    const entry = await health.get(key);
    const record = decodeHealthRecord(entry?.value);
    if (entry === undefined || (record?.place === undefined && record?.delivery === undefined)) continue;
    const { place: _place, delivery: _delivery, ...counted } = record;
    await health.putIfUnchanged(key, encodeHealthRecord(counted), entry.revision);
  }
}
