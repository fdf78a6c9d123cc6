import { decodeHashes } from '../event-hash.ts';
import type { SamplingBuckets } from './sampling-bucket.ts';

/** One line of a resolved frame that goes into the view. */
export type SampledLine = {
  readonly text: string;
  /** How many events of the account it stands for. */
  readonly sampleOf: number;
};

export type SampledFrame = { readonly lines: readonly SampledLine[]; readonly skipped: number };

export type FrameToSample = {
  /** The frame's subject: it tells the account apart, and that is all that is asked of it here. */
  readonly subject: string;
  readonly data: Uint8Array;
  readonly storedAtMs: number;
  /** Value of the header that holds the hashes of the events' ids, where it is there. */
  readonly ids: string | undefined;
};

const lineEnd = 0x0a;
const testMarker = Buffer.from('"test":true');

/**
 * Chooses the events of a frame that go into the view, without parsing any: of a flood, most are left out. Test events
 * have a bucket of their own, so that whoever tries something out sees it under any load; a live event that happens to
 * say `"test":true` only takes from that bucket. The time that counts is the log's, so that a reader that catches up
 * chooses as it would have then.
 */
export function sampleFrame(frame: FrameToSample, buckets: SamplingBuckets): SampledFrame {
  const { subject, storedAtMs } = frame;
  const bytes = Buffer.from(frame.data.buffer, frame.data.byteOffset, frame.data.byteLength);
  const hashes = frame.ids === undefined ? [] : decodeHashes(frame.ids);
  const account = subject.slice(0, subject.lastIndexOf('.'));
  const liveBucket = buckets.of(account, storedAtMs);
  const testBucket = buckets.of(`${account} test`, storedAtMs);
  const lines: SampledLine[] = [];
  let nextTestAt = bytes.indexOf(testMarker);
  let skipped = 0;
  let index = 0;
  for (let start = 0; start < bytes.length; index += 1) {
    const found = bytes.indexOf(lineEnd, start);
    const end = found < 0 ? bytes.length : found;
    const isTest = nextTestAt >= 0 && nextTestAt < end;
    if (isTest) nextTestAt = bytes.indexOf(testMarker, end);
    const bucket = isTest ? testBucket : liveBucket;
    const sampleOf = bucket.take(() => hashes[index]?.high ?? 0, storedAtMs);
    if (sampleOf > 0) lines.push({ text: bytes.toString('utf8', start, end), sampleOf });
    else skipped += 1;
    start = end + 1;
  }
  return { lines, skipped };
}

/** How many events a frame holds. */
export function countEvents(data: Uint8Array): number {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  let events = 0;
  for (let at = bytes.indexOf(lineEnd); at >= 0; at = bytes.indexOf(lineEnd, at + 1)) events += 1;
  return events;
}
