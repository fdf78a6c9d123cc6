import { randomUUID } from 'node:crypto';
import { FrameWriter } from '../../../../shared/contracts/events/frame.ts';
import { retrySubject } from '../../../../shared/contracts/subjects.ts';
import { encodeRetryRecord, parkedTier, retryHeadBytes } from '../../../../shared/contracts/events/retry-record.ts';
import type { RetryRecord } from '../../../../shared/contracts/events/retry-record.ts';
import type { StoredRecord } from '../waiting/waiting-visitors.ts';
import { LogWriter } from './log-writer.ts';
import type { LogWriterOptions } from './log-writer.ts';

export type RetryWriterOptions = LogWriterOptions & {
  /** Whether the destination may store this many bytes in the log in addition to `bytesWaiting`. */
  hasRoom(bytes: number, isReplacement: boolean): boolean;
  /** Rejects if another dispatcher owns the destination: that one has the events too. */
  confirm(): Promise<void>;
  /** The sequence up to which a tier is read. */
  readTo(tier: number): number;
  /** Called with each frame that the log has stored. */
  onStored(tier: number, frame: StoredFrame): void;
};

type StoredFrame = {
  readonly seq: number;
  readonly bytes: number;
  readonly records: readonly RetryRecord[];
  /** Whether the tier was read up to this sequence before the frame was sent: the log has lost its end. */
  readonly isReused: boolean;
};

/** Number of tries while the stream is full; with their pauses they take 2 s. */
const triesWhileFull = 5;

/** Maximum bytes of the events of a frame, since these are in memory together when the frame is read. */
const frameBytesMax = 256 * 1024;
/**
 * The same limit for parked events. It is lower, since a frame leaves the log only when all of its events are settled.
 */
const parkedFrameBytesMax = 128 * 1024;

type Waiting = {
  readonly record: RetryRecord;
  readonly line: string;
  /** Bytes of the line, with its line end. */
  readonly bytes: number;
  resolve(stored: Promise<StoredRecord | undefined>): void;
};

/**
 * Writes events that wait for another attempt to the retry log of one destination. Uses group commit: while a frame of
 * a tier is being written, later records of that tier are collected in the next frame, so that very many failures cause
 * few writes. Each frame has a random message id, by which the log recognises a repeated try; different frames never
 * have the same id.
 */
export class RetryWriter {
  readonly #options: RetryWriterOptions;
  /** For each tier that is being written, the records for its next frames. */
  readonly #tiers = new Map<number, Waiting[]>();
  readonly #writer: LogWriter;
  #bytesWaiting = 0;

  constructor(options: RetryWriterOptions) {
    this.#options = options;
    this.#writer = new LogWriter(options, triesWhileFull);
  }

  /** Bytes of records that are being written to the log, or wait to be written. */
  get bytesWaiting(): number {
    return this.#bytesWaiting;
  }

  /**
   * Resolves once the log has the record; resolves with undefined if the destination has no room in the log, or all
   * tries have failed. Rejects if the dispatcher ends first, or no longer owns the destination. `isReplacement`: the
   * record replaces an earlier record of the event.
   */
  add(tier: number, record: RetryRecord, isReplacement: boolean): Promise<StoredRecord | undefined> {
    const line = encodeRetryRecord(record);
    const bytes = Buffer.byteLength(line) + 1;
    if (!this.#options.hasRoom(bytes + retryHeadBytes, isReplacement)) return Promise.resolve(undefined);
    this.#bytesWaiting += bytes;
    return new Promise((resolve) => {
      const own = { record, line, bytes, resolve };
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
      const storing = this.#store(tier, frame).finally(() => {
        for (const { bytes } of frame) this.#bytesWaiting -= bytes;
      });
      for (const [index, { resolve }] of frame.entries()) {
        resolve(storing.then((stored) => stored && { ...stored, index }));
      }
      await storing.catch(() => undefined);
    }
    this.#tiers.delete(tier);
  }

  /** Stores a frame; returns undefined if the log refused it. */
  async #store(tier: number, frame: readonly Waiting[]): Promise<Omit<StoredRecord, 'index'> | undefined> {
    const { destinationId, confirm, onStored } = this.#options;
    await confirm();
    const payload = bytesOf(frame);
    const readTo = this.#options.readTo(tier);
    const seq = await this.#writer.write({ subject: retrySubject(destinationId, tier), payload, msgId: randomUUID() });
    if (seq === undefined) return undefined;
    const bytes = payload.length + retryHeadBytes;
    onStored(tier, { seq, bytes, records: frame.map(({ record }) => record), isReused: seq <= readTo });
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
