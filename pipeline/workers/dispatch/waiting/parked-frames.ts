import { FrameError, frameLines } from '../../../../shared/contracts/events/frame.ts';
import { parkedTier } from '../../../../shared/contracts/events/retry-record.ts';
import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import { deleteMessages, readNext } from '../../../../shared/nats/messages/subject-log.ts';
import type { StoredMessage } from '../../../../shared/nats/messages/subject-log.ts';
import { retrySubject } from '../../../../shared/contracts/subjects.ts';
import { streams } from '../../../../shared/nats/streams/topology.ts';
import { every } from '../../../../shared/runtime/every.ts';
import type { Periodic } from '../../../../shared/runtime/every.ts';
import type { HeldReferences } from '../events/held-references.ts';
import { SettledNotes } from './settled-notes.ts';
import type { RetryPlace } from '../events/referenced-events.ts';

export type ParkedFramesOptions = {
  readonly connection: LogConnection;
  readonly destinationId: string;
  readonly references: HeldReferences;
  /** Called with an error of the log; the failed work is repeated. */
  readonly warn: (error: unknown) => void;
};

/** Interval at which finished frames are removed, and settled events of other frames are recorded, in ms. */
const workEveryMs = 1_000;

type ParkedFrame = { left: number; readonly bytes: number; readonly settled: number[] };

/**
 * The frames of parked events in the retry log of one destination. Many visitors share a frame, so it leaves the log
 * once none of its events waits.
 */
export class ParkedFrames {
  readonly #options: ParkedFramesOptions;
  readonly #notes: SettledNotes;
  /** Frames with waiting events, by sequence. */
  readonly #frames = new Map<number, ParkedFrame>();
  /** Frames that are finished but not yet removed, by sequence. */
  readonly #finished = new Map<number, Pick<ParkedFrame, 'settled'>>();
  #isNoteStale = false;
  /** Whether the log may be changed. */
  #isOpen = false;
  #bytes = 0;
  #scannedSeq = 0;
  #removals = 0;
  #working: Periodic | undefined;

  constructor(options: ParkedFramesOptions) {
    this.#options = options;
    this.#notes = new SettledNotes(options);
  }

  /** Bytes of the log that parked events take. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Number of frames removed since the start: shows whether a frame was removed during an await. */
  get removals(): number {
    return this.#removals;
  }

  knows(seq: number): boolean {
    return this.#frames.has(seq) || this.#finished.has(seq);
  }

  /** Call when every frame up to this sequence is known: `readNext` continues after it. */
  scanned(seq: number): void {
    this.#scannedSeq = Math.max(this.#scannedSeq, seq);
  }

  /** Call when the log has a frame with this many parked events. A repeated call changes nothing. */
  stored(seq: number, records: number, bytes: number): void {
    if (this.knows(seq)) return;
    this.#frames.set(seq, { left: records, bytes, settled: [] });
    this.#bytes += bytes;
  }

  /** The next frame of parked events after those that were scanned. */
  readNext(): Promise<StoredMessage | undefined> {
    const { connection, destinationId } = this.#options;
    return readNext(connection, streams.retry, retrySubject(destinationId, parkedTier), this.#scannedSeq + 1);
  }

  /** Call when an event of a frame no longer waits. */
  finished({ seq, index }: RetryPlace): void {
    const frame = this.#frames.get(seq);
    if (frame === undefined) return;
    frame.left -= 1;
    frame.settled.push(index);
    this.#isNoteStale ||= frame.left > 0 || frame.settled.length > 1;
    if (this.#isOpen) this.#begin();
    if (frame.left > 0) return;
    this.#frames.delete(seq);
    this.#bytes -= frame.bytes;
    this.#options.references.settled(seq);
    // The only event of a frame is not recorded: the frame is removed as soon as a note would be stored.
    this.#finished.set(seq, { settled: frame.settled.length > 1 ? frame.settled : [] });
  }

  /** Whether an event was settled before this process began. */
  isSettled(place: RetryPlace): boolean {
    return this.#notes.isSettled(place);
  }

  /** Reads the events that the previous process had settled. */
  async readNote(): Promise<void> {
    if (await this.#notes.read()) this.#isNoteStale = true;
  }

  /**
   * Call once all frames are read. Nothing is written before: a note that covers only some of the frames would replace
   * one that covers all.
   */
  open(): void {
    this.#isOpen = true;
    if (this.#isNoteStale || this.#finished.size > 0) this.#begin();
  }

  async stop(): Promise<void> {
    await this.#begin().stop();
    await this.#work();
  }

  #begin(): Periodic {
    return (this.#working ??= every(workEveryMs, () => this.#work()));
  }

  async #work(): Promise<void> {
    try {
      // The note lists finished frames too, since the process may die before they are removed.
      if (this.#isNoteStale) await this.#writeNote();
      // Frames are removed one by one, so that frames which another process may have parked meanwhile stay.
      await deleteMessages(this.#options.connection, streams.retry, this.#finished.keys(), (seq) => {
        this.#isNoteStale ||= (this.#finished.get(seq)?.settled.length ?? 0) > 0;
        this.#finished.delete(seq);
        this.#removals += 1;
      });
      // Without waiting frames the note is removed at once, since the dispatcher may be stopping.
      if (this.#isNoteStale && this.#frames.size === 0) await this.#writeNote();
    } catch (error) {
      this.#options.warn(error);
    }
  }

  async #writeNote(): Promise<void> {
    this.#isNoteStale = false;
    try {
      await this.#notes.write([...this.#frames, ...this.#finished]);
    } catch (error) {
      this.#isNoteStale = true;
      throw error;
    }
  }
}

/** The lines of a frame. A frame that ends within a line counts as a single line that cannot be read. */
export function parkedLines(data: Uint8Array): readonly string[] {
  try {
    return frameLines(data);
  } catch (error) {
    if (error instanceof FrameError) return [Buffer.from(data).toString('utf8')];
    throw error;
  }
}
