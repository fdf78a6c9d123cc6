import { findPosition, positionKey } from '../../shared/contracts/destination-position.ts';
import type { Buckets } from '../../shared/nats/buckets/open-buckets.ts';
import { createReplayStore } from '../../shared/nats/buckets/replay-store.ts';

/** Where a destination begins in the log, and what of the log was sent to it again. */
export type Beginning = {
  /** When the destination was first published, in ms since the epoch; undefined if the log does not show it. */
  readonly sinceMs: number | undefined;
  /** Whether an earlier position was lost, so that the destination may have received events older than `sinceMs`. */
  readonly isLost: boolean;
  /** Whether a replay of the log includes events stored at this time, in ms since the epoch. */
  isReplayed(storedAtMs: number): boolean;
};

export async function readBeginning(
  { positions, replays }: Pick<Buckets, 'positions' | 'replays'>,
  destinationId: string,
): Promise<Beginning> {
  const position = findPosition((await positions.get(positionKey(destinationId)))?.value);
  const jobs = await createReplayStore(replays).list(destinationId);
  return {
    sinceMs: position?.sinceMs,
    isLost: position?.lostAtMs !== undefined,
    isReplayed: (storedAtMs) =>
      jobs.some(({ request }) => request.what === 'log' && storedAtMs >= request.fromMs && storedAtMs <= request.toMs),
  };
}
