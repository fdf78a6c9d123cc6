import { createHash } from 'node:crypto';
import { FrameWriter } from '../../../../shared/contracts/events/frame.ts';
import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import type { PublishFailure } from '../../../../shared/nats/publish/publish-answer.ts';
import { retrySubject } from '../../../../shared/contracts/subjects.ts';
import { publishUntilStored } from '../../publish-until-stored.ts';
import { encodeRetryRecord, parkedTier } from '../../../../shared/contracts/events/retry-record.ts';
import type { RetryRecord } from '../../../../shared/contracts/events/retry-record.ts';

/** Writes events that wait for another attempt to the retry log of one destination. */
export type RetryWriter = {
  /**
   * Settles once the log has the record; rejects when the dispatcher ended before that. `attemptId` is the same for an
   * attempt that is made again since its frame was, and for no other attempt.
   */
  add(tier: number, record: RetryRecord, attemptId: string): Promise<StoredRecord>;
};

/** Where the log has a record: the line `index` of the frame `seq`, which has `records` in all. */
export type StoredRecord = {
  readonly seq: number;
  readonly index: number;
  readonly records: number;
  readonly bytes: number;
};

export type RetryWriterOptions = {
  readonly connection: LogConnection;
  readonly destinationId: string;
  readonly signal: AbortSignal;
  onRetry(reason: PublishFailure, tries: number): void;
};

const frameBytesMax = 256 * 1024;
/** Of parked events: a frame is read for one visitor after the other, each time the turn of one comes. */
const parkedFrameBytesMax = 16 * 1024;

type Waiting = {
  readonly line: string;
  readonly id: string;
  resolve(stored: StoredRecord): void;
  reject(error: unknown): void;
};

/**
 * Group commit: while a frame of a tier is on its way to the log the next one grows, so a storm of failures costs few
 * writes. An event of a frame that is delivered again is recognised by the frame's message id.
 * `onStored` is told of every frame that was stored in a tier.
 */
export function createRetryWriter(options: RetryWriterOptions, onStored: (tier: number) => void): RetryWriter {
  const tiers = new Map<number, Waiting[]>();
  const drain = async (tier: number, waiting: Waiting[]): Promise<void> => {
    while (waiting.length > 0) {
      const frame = takeFrame(waiting, tier === parkedTier ? parkedFrameBytesMax : frameBytesMax);
      try {
        const payload = bytesOf(frame);
        const seq = await publishUntilStored(options.connection, retrySubject(options.destinationId, tier), payload, {
          msgId: idOf(options.destinationId, tier, frame),
          signal: options.signal,
          onRetry: options.onRetry,
        });
        onStored(tier);
        const stored = { seq, records: frame.length, bytes: payload.length };
        for (const [index, { resolve }] of frame.entries()) resolve({ ...stored, index });
      } catch (error) {
        for (const { reject } of frame) reject(error);
      }
    }
    tiers.delete(tier);
  };
  return {
    add: (tier, record, attemptId) =>
      new Promise((resolve, reject) => {
        const waiting = tiers.get(tier);
        const own = {
          line: encodeRetryRecord(record),
          id: attemptId,
          resolve,
          reject,
        };
        if (waiting !== undefined) {
          waiting.push(own);
          return;
        }
        const started = [own];
        tiers.set(tier, started);
        void drain(tier, started);
      }),
  };
}

function takeFrame(waiting: Waiting[], bytesMax: number): Waiting[] {
  let bytes = 0;
  let events = 0;
  for (const { line } of waiting) {
    bytes += line.length + 1;
    if (events > 0 && bytes > bytesMax) break;
    events += 1;
  }
  return waiting.splice(0, events);
}

function bytesOf(frame: readonly Waiting[]): Uint8Array {
  const writer = new FrameWriter(4_096);
  for (const { line } of frame) writer.appendLine(line);
  return writer.bytes();
}

function idOf(destinationId: string, tier: number, frame: readonly Waiting[]): string {
  const hash = createHash('sha256').update(`${destinationId}\n${tier}`);
  for (const { id } of frame) hash.update(`\n${id}`);
  return hash.digest('base64url');
}
