import { decodeHealthRecord, recentHealthOfAll } from '../../../../shared/contracts/health-record.ts';
import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import { readNext } from '../../../../shared/nats/messages/subject-log.ts';
import { buckets } from '../../../../shared/nats/streams/topology.ts';
import { readPlace } from './dispatch-place.ts';
import type { DispatchPlace } from './dispatch-place.ts';

/** What the dispatchers of a destination have noted, of all instances: whichever had it last. */
export async function readPlaces(connection: LogConnection, destinationId: string): Promise<DispatchPlace[]> {
  const places: DispatchPlace[] = [];
  const subject = `$KV.${buckets.health}.${recentHealthOfAll(destinationId)}`;
  for (let seq = 1; ;) {
    const found = await readNext(connection, `KV_${buckets.health}`, subject, seq);
    if (found === undefined) return places;
    seq = found.seq + 1;
    // None in an entry that was deleted, or that an earlier version wrote.
    const place = decodeHealthRecord(found.data)?.place;
    if (place !== undefined) places.push(readPlace(place));
  }
}
