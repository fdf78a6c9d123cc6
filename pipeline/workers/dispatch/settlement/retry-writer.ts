import { randomUUID } from 'node:crypto';
import { FrameWriter } from '../../../../shared/contracts/events/frame.ts';
import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import type { PublishFailure } from '../../../../shared/nats/publish/publish-answer.ts';
import { retrySubject } from '../../../../shared/contracts/subjects.ts';
import { PublishError, limitTries, publishWithRetry } from '../../../../shared/nats/publish/publisher.ts';
import { crowdBackoff } from '../../../../shared/runtime/retry.ts';
import { encodeRetryRecord, parkedTier, retryHeadBytes } from '../../../../shared/contracts/events/retry-record.ts';
import type { RetryRecord } from '../../../../shared/contracts/events/retry-record.ts';
import type { StoredRecord } from '../waiting/waiting-visitors.ts';

export type RetryWriterOptions = {
  readonly connection: LogConnection;
  readonly destinationId: string;
  readonly signal: AbortSignal;
  /** Whether the destination may have so many bytes more in the log, beside those of `bytesWaiting`. */
  hasRoom(bytes: number, isReplacement: boolean): boolean;
  onRetry(reason: PublishFailure, tries: number): void;
  /** Called with each frame the log has stored. */
  onStored(
    tier: number,
    frame: { readonly seq: number; readonly bytes: number; readonly records: readonly RetryRecord[] },
  ): void;
};

/** Together with their pauses these last 2 s, where the log is full, and a minute and a half or more. */
const tries = { fullMax: 5, othersMax: 24 };
/** While the log refuses what it is given, all that waits would otherwise be tried as long, one frame after the other. */
const triesOnceRefused = { fullMax: 1, othersMax: 1 };

/** What the events of a frame take when they are read back, in bytes. */
const frameBytesMax = 256 * 1024;
/** Of parked events: a frame leaves the log when all of it is settled. */
const parkedFrameBytesMax = 128 * 1024;

type Waiting = {
  readonly record: RetryRecord;
  readonly line: string;
  /** With its line end. */
  readonly bytes: number;
  resolve(stored: StoredRecord | undefined): void;
  reject(error: unknown): void;
};

/**
 * Writes events that wait for another attempt to the retry log of one destination. Group commit: while a frame of a tier
 * is on its way to the log the next one grows, so a storm of failures costs few writes. The message id of a frame is its
 * own: the log recognises a try that is repeated, and never takes one frame for another, such as one that has left it.
 */
export class RetryWriter {
  readonly #options: RetryWriterOptions;
  /** The records that wait, of each tier that is being written. */
  readonly #tiers = new Map<number, Waiting[]>();
  #bytesWaiting = 0;
  #isRefused = false;

  constructor(options: RetryWriterOptions) {
    this.#options = options;
  }

  /** Bytes of records on their way to the log. */
  get bytesWaiting(): number {
    return this.#bytesWaiting;
  }

  /**
   * Settles once the log has the record, or with undefined where it does not take it: the destination has no room there, or the
   * log refused it again and again. Rejects when the dispatcher ended before that. `isReplacement`: an earlier record of the
   * event leaves the log for it.
   */
  add(tier: number, record: RetryRecord, isReplacement: boolean): Promise<StoredRecord | undefined> {
    const line = encodeRetryRecord(record);
    const bytes = Buffer.byteLength(line) + 1;
    if (!this.#options.hasRoom(bytes + retryHeadBytes, isReplacement)) return Promise.resolve(undefined);
    this.#bytesWaiting += bytes;
    return new Promise((resolve, reject) => {
      const own = { record, line, bytes, resolve, reject };
      const waiting = this.#tiers.get(tier);
      if (waiting !== undefined) {
        waiting.push(own);
        return;
      }
      const started = [own];
      this.#tiers.set(tier, started);
      void this.#drain(tier, started);
    });
  }

  async #drain(tier: number, waiting: Waiting[]): Promise<void> {
    while (waiting.length > 0) {
      const frame = takeFrame(waiting, tier === parkedTier ? parkedFrameBytesMax : frameBytesMax);
      try {
        const stored = await this.#store(tier, frame);
        this.#isRefused = false;
        for (const [index, { resolve }] of frame.entries()) resolve({ ...stored, index });
      } catch (error) {
        this.#isRefused = error instanceof PublishError;
        for (const { resolve, reject } of frame) {
          if (this.#isRefused) resolve(undefined);
          else reject(error);
        }
      }
      for (const { bytes } of frame) this.#bytesWaiting -= bytes;
    }
    this.#tiers.delete(tier);
  }

  async #store(tier: number, frame: readonly Waiting[]): Promise<Omit<StoredRecord, 'index'>> {
    const { connection, destinationId, signal, onRetry, onStored } = this.#options;
    const payload = bytesOf(frame);
    const msgId = randomUUID();
    const subject = retrySubject(destinationId, tier);
    const policy = {
      signal,
      onRetry,
      backoff: crowdBackoff,
      mayTry: limitTries(this.#isRefused ? triesOnceRefused : tries),
    };
    const { seq } = await publishWithRetry(connection, { subject, payload, msgId }, policy);
    const bytes = payload.length + retryHeadBytes;
    onStored(tier, { seq, bytes, records: frame.map(({ record }) => record) });
    return { seq, records: frame.length, bytes };
  }
}

function takeFrame(waiting: Waiting[], bytesMax: number): Waiting[] {
  let bytes = 0;
  let events = 0;
  for (const { record } of waiting) {
    bytes += record.bytes;
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
