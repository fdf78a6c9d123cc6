import { randomUUID } from 'node:crypto';
import { FrameError, frameLines } from '../../../../shared/contracts/events/frame.ts';
import {
  decodeSettledNote,
  encodeSettledNote,
  parkedTier,
  settledNoteTier,
} from '../../../../shared/contracts/events/retry-record.ts';
import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import { publish } from '../../../../shared/nats/publish/publisher.ts';
import { deleteMessage, readNext, readStored } from '../../../../shared/nats/messages/subject-log.ts';
import type { StoredMessage } from '../../../../shared/nats/messages/subject-log.ts';
import { retrySubject } from '../../../../shared/contracts/subjects.ts';
import { streams } from '../../../../shared/nats/streams/topology.ts';
import type { HeldReferences } from '../events/held-references.ts';
import type { RetryPlace } from './waiting-visitors.ts';

export type ParkedFramesOptions = {
  readonly connection: LogConnection;
  readonly destinationId: string;
  readonly references: HeldReferences;
  /** Told of an error of the log; what failed is done again. */
  readonly warn: (error: unknown) => void;
};

const linesBytesMax = 8 * 1024 * 1024;
/** How often finished frames are removed, and what is settled of the others is noted. */
const workEveryMs = 1_000;
/** What one note holds at most; it has to fit into a message. */
const settledEventsMax = 50_000;
const noteTimeoutMs = 5_000;
const deletionsAtOnce = 8;

type ParkedFrame = { left: number; readonly bytes: number; readonly settled: number[] };

/**
 * The frames of parked events in the retry log of one destination: many visitors share one, so it is read whenever the
 * turn of one of them comes, and leaves the log when nothing in it is waited for.
 */
export class ParkedFrames {
  readonly #options: ParkedFramesOptions;
  readonly #subject: string;
  readonly #noteSubject: string;
  /** By sequence. */
  readonly #frames = new Map<number, ParkedFrame>();
  /** Lines of the frames read last. */
  readonly #lines = new Map<number, { readonly lines: readonly string[]; readonly bytes: number }>();
  #linesBytes = 0;
  /** Frames that are being read. */
  readonly #reading = new Map<number, Promise<readonly string[] | undefined>>();
  /** Finished and not yet removed. */
  readonly #finished = new Set<number>();
  /** Notes in the log; the newest says all. */
  #noteSeqs: number[] = [];
  #isNoteStale = false;
  #settledBefore: ReadonlyMap<number, readonly number[]> = new Map();
  #bytes = 0;
  #scannedSeq = 0;
  #removals = 0;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: ParkedFramesOptions) {
    this.#options = options;
    this.#subject = retrySubject(options.destinationId, parkedTier);
    this.#noteSubject = retrySubject(options.destinationId, settledNoteTier);
  }

  /** Bytes of the log that parked events take. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Frames that left the log so far. */
  get removals(): number {
    return this.#removals;
  }

  knows(seq: number): boolean {
    return this.#frames.has(seq) || this.#finished.has(seq);
  }

  /** Every frame up to a sequence is known: `readNext` goes on after it. */
  scanned(seq: number): void {
    this.#scannedSeq = Math.max(this.#scannedSeq, seq);
  }

  /** The log has a frame of so many parked events. Told of again it changes nothing. */
  stored(seq: number, records: number, bytes: number): void {
    if (this.knows(seq)) return;
    this.#frames.set(seq, { left: records, bytes, settled: [] });
    this.#bytes += bytes;
  }

  /** The record of a parked event that has the event itself; undefined if the log has it no more. */
  async read({ seq, index }: RetryPlace): Promise<string | undefined> {
    const known = this.#lines.get(seq);
    if (known !== undefined) {
      this.#lines.delete(seq);
      this.#lines.set(seq, known);
      return known.lines[index];
    }
    let reading = this.#reading.get(seq);
    if (reading === undefined) {
      reading = this.#readFrame(seq).finally(() => this.#reading.delete(seq));
      this.#reading.set(seq, reading);
    }
    return (await reading)?.[index];
  }

  async #readFrame(seq: number): Promise<readonly string[] | undefined> {
    const data = await readStored(this.#options.connection, streams.retry, seq);
    if (data === undefined) return undefined;
    const lines = parkedLines(data);
    this.#remember(seq, lines, data.length);
    return lines;
  }

  /** The next frame of parked events after those that were scanned. */
  readNext(): Promise<StoredMessage | undefined> {
    return readNext(this.#options.connection, streams.retry, this.#subject, this.#scannedSeq + 1);
  }

  /** An event of a frame is not waited for any more. */
  finished({ seq, index }: RetryPlace): void {
    const frame = this.#frames.get(seq);
    if (frame === undefined) return;
    frame.left -= 1;
    frame.settled.push(index);
    this.#isNoteStale ||= frame.left > 0 || frame.settled.length > 1;
    if (!this.#isStopped) this.#workSoon();
    if (frame.left > 0) return;
    this.#frames.delete(seq);
    this.#bytes -= frame.bytes;
    this.#forget(seq);
    this.#options.references.settled(seq);
    this.#finished.add(seq);
  }

  /** Whether an event was settled before this process began. */
  isSettled({ seq, index }: RetryPlace): boolean {
    return this.#settledBefore.get(seq)?.includes(index) === true;
  }

  /** Reads what was settled when the process before this one ended. */
  async readNote(): Promise<void> {
    for (;;) {
      const { connection } = this.#options;
      const found = await readNext(connection, streams.retry, this.#noteSubject, (this.#noteSeqs.at(-1) ?? 0) + 1);
      if (found === undefined) return;
      this.#noteSeqs.push(found.seq);
      this.#settledBefore = decodeSettledNote(found.data);
      this.#isNoteStale = true;
      this.#workSoon();
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#working;
    await this.#work();
  }

  #workSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#working = this.#work().then(() => {
        this.#timer = undefined;
        if ((this.#finished.size > 0 || this.#isNoteStale) && !this.#isStopped) this.#workSoon();
      });
    }, workEveryMs);
  }

  async #work(): Promise<void> {
    try {
      // First the note: what is removed needs none.
      if (this.#isNoteStale) await this.#writeNote();
      await this.#remove();
    } catch (error) {
      this.#options.warn(error);
    }
  }

  /** A frame leaves the log as a whole: what was settled of it before the process died would be sent again. */
  async #writeNote(): Promise<void> {
    const { connection } = this.#options;
    this.#isNoteStale = false;
    const settled = new Map<number, readonly number[]>();
    let events = 0;
    for (const [seq, frame] of this.#frames) {
      events += frame.settled.length;
      if (events > settledEventsMax) break;
      if (frame.settled.length > 0) settled.set(seq, frame.settled);
    }
    const before = this.#noteSeqs.splice(0);
    try {
      if (settled.size > 0) {
        const options = { msgId: randomUUID(), timeoutMs: noteTimeoutMs };
        const { seq } = await publish(connection, this.#noteSubject, encodeSettledNote(settled), options);
        this.#noteSeqs.push(seq);
      }
      for (let seq = before.pop(); seq !== undefined; seq = before.pop()) {
        await deleteMessage(connection, streams.retry, seq);
      }
    } catch (error) {
      this.#isNoteStale = true;
      this.#noteSeqs.unshift(...before);
      throw error;
    }
  }

  /** One by one: what another process may have parked meanwhile stays. */
  async #remove(): Promise<void> {
    const { connection } = this.#options;
    const seqs = [...this.#finished];
    const removeNext = async (): Promise<void> => {
      for (let seq = seqs.pop(); seq !== undefined; seq = seqs.pop()) {
        await deleteMessage(connection, streams.retry, seq);
        this.#finished.delete(seq);
        this.#removals += 1;
      }
    };
    await Promise.all(Array.from({ length: deletionsAtOnce }, removeNext));
  }

  #remember(seq: number, lines: readonly string[], bytes: number): void {
    this.#forget(seq);
    this.#lines.set(seq, { lines, bytes });
    this.#linesBytes += bytes;
    for (const oldest of this.#lines.keys()) {
      if (this.#linesBytes <= linesBytesMax || oldest === seq) break;
      this.#forget(oldest);
    }
  }

  #forget(seq: number): void {
    const known = this.#lines.get(seq);
    if (known === undefined) return;
    this.#lines.delete(seq);
    this.#linesBytes -= known.bytes;
  }
}

/** The lines of a frame; one that ends within a line is a single line that nobody can read. */
export function parkedLines(data: Uint8Array): readonly string[] {
  try {
    return frameLines(data);
  } catch (error) {
    if (error instanceof FrameError) return [Buffer.from(data).toString('utf8')];
    throw error;
  }
}
