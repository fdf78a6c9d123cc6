import { eachResolvedLine } from '../../../shared/contracts/events/search-resolved.ts';
import type { UnreadLine } from '../../../shared/contracts/events/search-resolved.ts';
import type { SamplingBuckets } from './sampling-bucket.ts';

/** One line of a resolved frame that goes into the view. */
export type SampledLine = {
  readonly line: UnreadLine;
  /** How many events of the account it stands for. */
  readonly sampleOf: number;
};

export type SampledFrame = { readonly lines: readonly SampledLine[]; readonly skipped: number };

/** One of so many bytes with its visitor, or of fewer, counts as one event; of a larger one each of these does. */
const bytesPerEvent = 4 * 1_024;

export type FrameToSample = {
  /** The frame's subject: it tells the account apart, and that is all that is asked of it here. */
  readonly subject: string;
  readonly data: Uint8Array;
  readonly storedAtMs: number;
};

/**
 * Chooses the events of a frame that go into the view, without parsing any: of a flood, most are left out. Test events
 * have a bucket of their own, so that tests are visible under any load; a live event that is taken for
 * one only takes from that bucket. The time that counts is the log's, so that a reader that catches up
 * chooses as it would have then.
 */
export function sampleFrame(frame: FrameToSample, buckets: SamplingBuckets): SampledFrame {
  const { subject, data, storedAtMs } = frame;
  const account = subject.slice(0, subject.lastIndexOf('.'));
  const liveBucket = buckets.of(account, storedAtMs);
  const testBucket = buckets.of(`${account} test`, storedAtMs);
  const lines: SampledLine[] = [];
  let skipped = 0;
  eachResolvedLine(data, (maybeTest, lineOf, hash) => {
    const bucket = maybeTest ? testBucket : liveBucket;
    const sampleOf = bucket.take(hash, storedAtMs);
    if (sampleOf > 0) {
      const line = lineOf();
      lines.push({ line, sampleOf });
      bucket.weigh(Math.floor(line.bytes / bytesPerEvent));
    } else skipped += 1;
  });
  return { lines, skipped };
}
