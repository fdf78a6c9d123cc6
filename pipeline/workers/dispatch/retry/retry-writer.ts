import { randomUUID } from 'node:crypto';
import { FrameWriter } from '../../../../shared/contracts/events/frame.ts';
import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import type { PublishFailure } from '../../../../shared/nats/publish/publish-answer.ts';
import { retrySubject } from '../../../../shared/contracts/subjects.ts';
import { publishWithRetry } from '../../../../shared/nats/publish/publisher.ts';
import { crowdBackoff } from '../../../../shared/runtime/retry.ts';
import { encodeRetryRecord, parkedTier } from '../../../../shared/contracts/events/retry-record.ts';
import type { RetryRecord } from '../../../../shared/contracts/events/retry-record.ts';

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
  /** Told of each frame the log has stored. */
  onStored(tier: number, bytes: number): void;
};

const frameBytesMax = 256 * 1024;
/** Of parked events: a frame is read for one visitor after the other, each time the turn of one comes. */
const parkedFrameBytesMax = 16 * 1024;

type Waiting = {
  readonly line: string;
  resolve(stored: StoredRecord): void;
  reject(error: unknown): void;
};

/**
 * Writes events that wait for another attempt to the retry log of one destination. Group commit: while a frame of a tier
 * is on its way to the log the next one grows, so a storm of failures costs few writes. The message id of a frame is its
 * own: the log recognises a try that is repeated, and never takes one frame for another, such as one that has left it.
 */
export class RetryWriter {
  readonly #options: RetryWriterOptions;
  /** What waits of each tier that is being written. */
  readonly #tiers = new Map<number, Waiting[]>();
  #tiersStored = new Set<number>();

  constructor(options: RetryWriterOptions) {
    this.#options = options;
  }

  /** Settles once the log has the record; rejects when the dispatcher ended before that. */
  add(tier: number, record: RetryRecord): Promise<StoredRecord> {
    return new Promise((resolve, reject) => {
      const own = { line: encodeRetryRecord(record), resolve, reject };
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

  /** The tiers something was stored in since this was asked last. */
  takeTiersStored(): Iterable<number> {
    if (this.#tiersStored.size === 0) return [];
    const tiers = this.#tiersStored;
    this.#tiersStored = new Set();
    return tiers;
  }

  async #drain(tier: number, waiting: Waiting[]): Promise<void> {
    while (waiting.length > 0) {
      const frame = takeFrame(waiting, tier === parkedTier ? parkedFrameBytesMax : frameBytesMax);
      try {
        const stored = await this.#store(tier, frame);
        this.#tiersStored.add(tier);
        for (const [index, { resolve }] of frame.entries()) resolve({ ...stored, index });
      } catch (error) {
        for (const { reject } of frame) reject(error);
      }
    }
    this.#tiers.delete(tier);
  }

  async #store(tier: number, frame: readonly Waiting[]): Promise<Omit<StoredRecord, 'index'>> {
    const { connection, destinationId, signal, onRetry, onStored } = this.#options;
    const payload = bytesOf(frame);
    const msgId = randomUUID();
    const subject = retrySubject(destinationId, tier);
    const policy = { signal, onRetry, backoff: crowdBackoff };
    const { seq } = await publishWithRetry(connection, { subject, payload, msgId }, policy);
    onStored(tier, payload.length);
    return { seq, records: frame.length, bytes: payload.length };
  }
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
