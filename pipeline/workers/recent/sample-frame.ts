import { eachResolvedLine } from '../../../shared/contracts/events/search-resolved.ts';
import type { UnreadLine } from '../../../shared/contracts/events/search-resolved.ts';
import type { SamplingBuckets } from './sampling-bucket.ts';

/** One line of a resolved frame that goes into the view. */
export type SampledLine = {
  readonly line: UnreadLine;
  /** The number of the account's events that this line represents. */
  readonly sampleOf: number;
};

export type SampledFrame = { readonly lines: readonly SampledLine[]; readonly skipped: number };

/** An event of up to this many bytes, visitor included, counts as one; a larger one counts in proportion. */
const bytesPerEvent = 4 * 1_024;

export type FrameToSample = {
  /** The frame's subject, which distinguishes accounts here. */
  readonly subject: string;
  readonly data: Uint8Array;
  readonly storedAtMs: number;
};

/**
 * Chooses the events of a frame for the view, without parsing any: in a flood most are left out. Test events have a
 * separate bucket, so that they are visible under any load; a live event that looks like a test event only uses up that
 * bucket. The time is the log's, so that a recorder that catches up chooses as it would have at that time.
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
