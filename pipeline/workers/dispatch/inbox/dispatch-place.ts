import type { WrittenPlace } from '../../../../shared/contracts/destination-position.ts';
import type { Bucket } from '../../../../shared/nats/buckets/bucket.ts';
import {
  decodeHealthRecord,
  encodeHealthRecord,
  recentHealthOfAll,
} from '../../../../shared/contracts/health-record.ts';
import type { FinishedMessages } from '../../../../shared/nats/consume/taken-messages.ts';
import { joinBits } from './line-bits.ts';
import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import { readNext } from '../../../../shared/nats/messages/subject-log.ts';
import { buckets } from '../../../../shared/nats/streams/topology.ts';

/** Lines of a frame that are settled. */
export type SettledPart = { readonly seq: number; readonly storedAtMs: number; readonly lines: Uint8Array };

/** What a dispatcher has settled in its account's log, as its position stores it. */
export type DispatchPlace = { readonly finished: FinishedMessages; readonly parts: readonly SettledPart[] };

export function writePlace({ finished, parts }: DispatchPlace): WrittenPlace {
  let before = finished.upTo;
  const above = finished.above.map((seq) => {
    const step = seq - before;
    before = seq;
    return step;
  });
  return {
    upTo: finished.upTo,
    above,
    storedUntilMs: finished.storedUntilMs,
    parts: parts.map(({ seq, storedAtMs, lines }) => [seq, storedAtMs, Buffer.from(lines).toString('base64')]),
  };
}

export function readPlace({ upTo, above, storedUntilMs, parts }: WrittenPlace): DispatchPlace {
  let before = upTo;
  return {
    finished: { upTo, above: above.map((step) => (before += step)), storedUntilMs },
    parts: parts.map(([seq, storedAtMs, lines]) => ({ seq, storedAtMs, lines: Buffer.from(lines, 'base64') })),
  };
}

/** The settled parts of several dispatchers, by the sequence of the frame. */
export function joinParts(places: readonly DispatchPlace[]): Map<number, SettledPart> {
  const joined = new Map<number, SettledPart>();
  for (const part of places.flatMap(({ parts }) => parts)) {
    const known = joined.get(part.seq);
    if (known === undefined || known.storedAtMs < part.storedAtMs) joined.set(part.seq, part);
    else if (known.storedAtMs === part.storedAtMs) {
      joined.set(part.seq, { ...part, lines: joinBits(known.lines, part.lines) });
    }
  }
  return joined;
}

/**
 * What earlier builds have noted with the health of a destination, of all instances. `isKnown`: something was noted, be
 * it without a place.
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
    // None in an entry that was deleted.
    const place = decodeHealthRecord(found.data)?.place;
    if (place !== undefined) places.push(readPlace(place));
  }
}

/** Removes the places from the health of a destination that is gone; its counts stay. */
export async function forgetHealthPlaces(health: Bucket, destinationId: string): Promise<void> {
  for (const key of await health.keys(recentHealthOfAll(destinationId))) {
    const entry = await health.get(key);
    const record = decodeHealthRecord(entry?.value);
    if (entry === undefined || record?.place === undefined) continue;
    const { place: _, ...counted } = record;
    await health.putIfUnchanged(key, encodeHealthRecord(counted), entry.revision);
  }
}
