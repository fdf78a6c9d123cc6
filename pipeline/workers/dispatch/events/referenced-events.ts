import { FrameError, FrameWriter } from '../../../../shared/contracts/events/frame.ts';
import { eventKey } from '../../../../shared/contracts/events/event-origin.ts';
import type { EventOrigin } from '../../../../shared/contracts/events/event-origin.ts';
import { ResolvedFrame } from '../../../../shared/contracts/events/resolved-frame.ts';
import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import { readStored } from '../../../../shared/nats/messages/subject-log.ts';
import { streams } from '../../../../shared/nats/streams/topology.ts';
import { readFrameLine } from './read-event.ts';
import type { ReadEvent } from './read-event.ts';

/** An event to read: by its origin in EVENTS, or the line that a record carries. */
export type WantedEvent = {
  readonly visitorId: string;
  /** See `eventKey`. */
  readonly key: string;
  readonly origin?: EventOrigin | undefined;
  readonly line?: string | undefined;
};

export type LoadedEvent =
  | { readonly kind: 'event'; readonly event: ReadEvent }
  /** This build cannot read it. */
  | { readonly kind: 'unreadable'; readonly line: string }
  /** EVENTS has it no more. */
  | { readonly kind: 'gone' };

const gone: LoadedEvent = { kind: 'gone' };

/**
 * Reads the events that references point to. The frames of EVENTS read last, and those with events that have just failed,
 * stay in memory for all destinations of a thread: a first retry reads nothing, and a backlog reads each frame once.
 */
export class ReferencedEvents {
  readonly #bytesMax: number;
  /** By sequence, the one used last at the end. */
  readonly #frames = new Map<number, ResolvedFrame>();
  readonly #reading = new Map<number, Promise<ResolvedFrame | undefined>>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes of the frames kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Keeps a frame some events of which are to be read again. */
  keep(seq: number, frame: ResolvedFrame): void {
    const known = this.#frames.get(seq);
    if (known !== undefined) {
      this.#frames.delete(seq);
      this.#bytes -= known.bytes;
    }
    if (frame.bytes > this.#bytesMax) return;
    this.#frames.set(seq, frame);
    this.#bytes += frame.bytes;
    for (const [oldest, { bytes: ofOldest }] of this.#frames) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#frames.delete(oldest);
      this.#bytes -= ofOldest;
    }
  }

  /** Reads events, frame after frame in the order of EVENTS. Throws where the log does not answer. */
  async load(connection: LogConnection, wanted: readonly WantedEvent[]): Promise<readonly LoadedEvent[]> {
    const lines = wanted.map(({ line }) => line);
    const inOrder = [...wanted.keys()].toSorted(
      (a, b) => (wanted[a]?.origin?.seq ?? 0) - (wanted[b]?.origin?.seq ?? 0),
    );
    for (const at of inOrder) {
      const { origin } = wanted[at] ?? {};
      if (lines[at] === undefined && origin !== undefined) lines[at] = await this.#lineAt(connection, origin);
    }
    const writer = new FrameWriter(4_096);
    for (const line of lines) if (line !== undefined) writer.appendLine(line);
    const frame = new ResolvedFrame(Buffer.from(writer.bytes()));
    let place = -1;
    return wanted.map((one, at) => {
      const line = lines[at];
      if (line === undefined) return gone;
      place += 1;
      const event = readFrameLine(frame, place);
      if (event === undefined) return { kind: 'unreadable', line };
      // EVENTS was created again, and has another event there.
      const isSame = event.head.visitorId === one.visitorId && eventKey(event.head.id, one.origin) === one.key;
      return isSame || one.line !== undefined ? { kind: 'event', event } : gone;
    });
  }

  async #lineAt(connection: LogConnection, { seq, line }: EventOrigin): Promise<string | undefined> {
    const frame = await this.#frameAt(connection, seq);
    if (frame === undefined || line >= frame.length) return undefined;
    try {
      return frame.lineAt(line);
    } catch (error) {
      if (error instanceof FrameError) return frame.textAt(line);
      throw error;
    }
  }

  #frameAt(connection: LogConnection, seq: number): Promise<ResolvedFrame | undefined> {
    const known = this.#frames.get(seq);
    if (known !== undefined) {
      this.#frames.delete(seq);
      this.#frames.set(seq, known);
      return Promise.resolve(known);
    }
    let reading = this.#reading.get(seq);
    if (reading === undefined) {
      reading = this.#read(connection, seq).finally(() => this.#reading.delete(seq));
      this.#reading.set(seq, reading);
    }
    return reading;
  }

  async #read(connection: LogConnection, seq: number): Promise<ResolvedFrame | undefined> {
    const data = await readStored(connection, streams.events, seq);
    const frame = data === undefined ? undefined : ResolvedFrame.open(data);
    if (frame !== undefined) this.keep(seq, frame);
    return frame;
  }
}
