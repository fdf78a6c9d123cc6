import { PositionError, decodePosition, positionKey } from '../../shared/contracts/destination-position.ts';
import type { DestinationPosition } from '../../shared/contracts/destination-position.ts';
import type { Buckets } from '../../shared/nats/buckets/open-buckets.ts';
import { createReplayStore } from '../../shared/nats/buckets/replay-store.ts';

/** Where a destination begins in the log. */
export type Beginning = {
  /**
   * Whether the destination gets an event of the log that was stored at this time, in ms since the epoch. Earlier
   * events are sent only by a replay; `unknown` if a replay includes that time.
   */
  includes(storedAtMs: number): 'yes' | 'no' | 'unknown';
  readonly sinceMs: number;
};

/**
 * For events stored at `oldestMs` or later. Undefined if the log has no position of the destination, or one that this
 * build cannot read.
 */
export async function readBeginning(
  { positions, replays }: Pick<Buckets, 'positions' | 'replays'>,
  destinationId: string,
  oldestMs: number,
): Promise<Beginning | undefined> {
  const position = positionOf((await positions.get(positionKey(destinationId)))?.value);
  if (position === undefined) return undefined;
  const { sinceMs, lostAtMs } = position;
  const jobs = oldestMs < sinceMs ? await createReplayStore(replays).list(destinationId) : [];
  const isReplayed = (atMs: number): boolean =>
    jobs.some(({ request }) => request.what === 'log' && atMs >= request.fromMs && atMs <= request.toMs);
  return {
    sinceMs,
    includes(storedAtMs) {
      if (storedAtMs >= sinceMs) return 'yes';
      // Before a position was lost, the destination may have received events older than the new one.
      return lostAtMs !== undefined || isReplayed(storedAtMs) ? 'unknown' : 'no';
    },
  };
}

function positionOf(value: Uint8Array | undefined): DestinationPosition | undefined {
  try {
    return value && decodePosition(value);
  } catch (error) {
    if (error instanceof PositionError) return undefined;
    throw error;
  }
}
