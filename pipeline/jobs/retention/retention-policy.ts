import type { ConsumerProgress, StreamState } from '../../../shared/nats/streams/stream-progress.ts';

/** Share of a stream's limit above which history goes, and the share it is brought down to. */
export type WaterMarks = { readonly high: number; readonly low: number };

/**
 * Up to which sequence everything that read a subject is done with it: the least of its consumers. Undefined without
 * any. What they acknowledged is certain; that nothing waits for one is said a moment late, when a message has just been
 * stored. So one that never acknowledged anything, and has nothing to, is done up to `settledSeq` only: the end of the
 * stream a while ago.
 */
export function finishedSeq(
  consumers: readonly Pick<ConsumerProgress, 'ackedSeq' | 'waiting' | 'unacknowledged'>[],
  settledSeq: number,
): number | undefined {
  if (consumers.length === 0) return undefined;
  return Math.min(
    ...consumers.map(({ ackedSeq, waiting, unacknowledged }) =>
      ackedSeq === 0 && waiting + unacknowledged === 0 ? settledSeq : ackedSeq,
    ),
  );
}

/**
 * The first sequence to keep so that a stream above its high mark comes down to the low one; messages count alike.
 * `triedFrom` is what the time before said: where that did not bring it down, since somebody has not finished with what
 * lies there, younger history has to go.
 */
export function keepFromBySize(
  state: Omit<StreamState, 'createdAt'>,
  { high, low }: WaterMarks,
  triedFrom: number,
): number {
  if (state.bytesMax === undefined || state.messages === 0 || state.bytes <= state.bytesMax * high)
    return state.firstSeq;
  const share = (state.bytes - state.bytesMax * low) / state.bytes;
  const from = Math.max(state.firstSeq, triedFrom);
  return from + Math.ceil(share * (state.lastSeq - from + 1));
}
