import type { WrittenPlace } from '../../../../shared/contracts/destination-position.ts';
import type { FinishedMessages } from '../../../../shared/nats/consume/taken-messages.ts';
import { joinBits } from '../events/line-bits.ts';

/** Lines of a frame that are settled. */
export type SettledPart = { readonly seq: number; readonly storedAtMs: number; readonly lines: Uint8Array };

/** Which part of its account's log a dispatcher has settled, as its position stores it. */
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

/** Joins the settled parts of several dispatchers, by the sequence of the frame. */
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
