import { frameLines, parseLine } from '../../shared/events/frame.ts';
import type { ResolvedEvent } from '../../shared/events/resolved-event.ts';
import type { RequestSummary } from '../../shared/events/dead-letter.ts';

/** An event that waits for another attempt: one line of a frame in the retry log. */
export type RetryRecord = {
  readonly v: 1;
  readonly attempts: number;
  /** Ms since the epoch, as are the others. */
  readonly firstAttemptAt: number;
  readonly lastAttemptAt: number;
  readonly notBefore: number;
  readonly reason: string;
  readonly request?: RequestSummary;
  readonly event: ResolvedEvent;
};

export function encodeRetryRecord(record: RetryRecord): string {
  return JSON.stringify(record);
}

/** Reads a frame of the retry log. Throws FrameError on what this build does not know. */
export function decodeRetryFrame(data: Uint8Array): RetryRecord[] {
  return frameLines(data).map((line) => parseLine(line) as RetryRecord);
}
