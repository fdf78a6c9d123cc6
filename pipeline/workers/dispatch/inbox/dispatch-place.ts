import type { WrittenPlace } from '../../../../shared/contracts/health-record.ts';
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

/**
 * What a dispatcher has settled in its account's log, stored with its health before anything is acknowledged. The consumer
 * remembers no more than the point up to which all is acknowledged; this is what the next dispatcher need not send again.
 */
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

/** How far the dispatcher had come that came farthest; undefined where none has noted anything. */
export function farthest(places: readonly DispatchPlace[]): FinishedMessages | undefined {
  return places.map(({ finished }) => finished).toSorted((a, b) => b.upTo - a.upTo)[0];
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

/** Forgets what the dispatchers of a destination that is gone have noted; what they counted stays. */
export async function forgetPlaces(health: Bucket, destinationId: string): Promise<void> {
  for (const key of await health.keys(recentHealthOfAll(destinationId))) {
    const entry = await health.get(key);
    const record = decodeHealthRecord(entry?.value);
    if (entry === undefined || record?.place === undefined) continue;
    const { place: _, ...counted } = record;
    await health.putIfUnchanged(key, encodeHealthRecord(counted), entry.revision);
  }
}
