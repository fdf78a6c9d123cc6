import { LRUCache } from 'lru-cache';
import { FrameError, FrameWriter } from '../../../../shared/contracts/events/frame.ts';
import { eventKey } from '../../../../shared/contracts/events/event-origin.ts';
import type { EventOrigin } from '../../../../shared/contracts/events/event-origin.ts';
import { ResolvedFrame } from '../../../../shared/contracts/events/resolved-frame.ts';
import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import { readStored } from '../../../../shared/nats/messages/subject-log.ts';
import { parseRetryRecord } from '../../../../shared/contracts/events/retry-record.ts';
import { streams } from '../../../../shared/nats/streams/topology.ts';
import { readFrameLine } from './read-event.ts';
import type { ReadEvent } from './read-event.ts';

/** The place of an event in RETRY: the sequence of its frame, and its line there. */
export type RetryPlace = { readonly seq: number; readonly index: number };

/** An event to read, either from its origin in EVENTS or from the copy in its record in RETRY. */
export type WantedEvent = {
  readonly visitorId: string;
  /** See `eventKey`. */
  readonly key: string;
  readonly origin?: EventOrigin | undefined;
  /** The event's line, or the place in RETRY of the record that contains it. */
  readonly copy?: string | RetryPlace | undefined;
};

export type LoadedEvent =
  | { readonly kind: 'event'; readonly event: ReadEvent }
  /** This build cannot read the event. */
  | { readonly kind: 'unreadable'; readonly line: string }
  /** EVENTS no longer has the event. */
  | { readonly kind: 'gone' };

const gone: LoadedEvent = { kind: 'gone' };

/**
 * Reads the events that references name. The last frames, and frames with events that have just failed, stay in memory
 * for all destinations of a thread: a first retry reads nothing from the log, and a backlog reads each frame once.
 */
export class ReferencedEvents {
  readonly #frames: LRUCache<string, ResolvedFrame, LogConnection>;

  constructor(bytesMax: number) {
    this.#frames = new LRUCache({
      maxSize: bytesMax,
      sizeCalculation: ({ bytes }) => bytes + 1,
      fetchMethod: (key, _, { context }) => readFrame(context, key),
      // A read continues even if `keep` caches the frame meanwhile: both have the same frame.
      ignoreFetchAbort: true,
    });
  }

  /** Bytes of the kept frames. */
  get bytes(): number {
    return this.#frames.calculatedSize;
  }

  /** Caches a frame of EVENTS whose events will be read again. */
  keep(seq: number, frame: ResolvedFrame): void {
    this.#frames.set(keyOf(streams.events, seq), frame);
  }

  /** Reads events, frame after frame in the order of EVENTS. Throws if the log does not answer. */
  async load(connection: LogConnection, wanted: readonly WantedEvent[]): Promise<readonly LoadedEvent[]> {
    const lines: (string | undefined)[] = wanted.map(() => undefined);
    const inOrder = [...wanted.entries()].toSorted(([, a], [, b]) => (a.origin?.seq ?? 0) - (b.origin?.seq ?? 0));
    for (const [at, one] of inOrder) lines[at] = await this.#lineOf(connection, one);
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
      // If EVENTS was created again, another event has this sequence and line.
      const isSame = event.head.visitorId === one.visitorId && eventKey(event.head.id, one.origin) === one.key;
      return isSame || one.copy !== undefined ? { kind: 'event', event } : gone;
    });
  }

  async #lineOf(connection: LogConnection, { copy, origin }: WantedEvent): Promise<string | undefined> {
    if (typeof copy === 'string') return copy;
    if (copy !== undefined) {
      const frame = await this.#frames.fetch(keyOf(streams.retry, copy.seq), { context: connection });
      return frame === undefined || copy.index >= frame.length ? undefined : copyIn(frame.textAt(copy.index));
    }
    if (origin === undefined) return undefined;
    const frame = await this.#frames.fetch(keyOf(streams.events, origin.seq), { context: connection });
    if (frame === undefined || origin.line >= frame.length) return undefined;
    try {
      return frame.lineAt(origin.line);
    } catch (error) {
      if (error instanceof FrameError) return frame.textAt(origin.line);
      throw error;
    }
  }
}

const keyOf = (stream: string, seq: number): string => `${stream} ${seq}`;

async function readFrame(connection: LogConnection, key: string): Promise<ResolvedFrame | undefined> {
  const [stream = '', seq] = key.split(' ');
  const data = await readStored(connection, stream, Number(seq));
  return data === undefined ? undefined : ResolvedFrame.open(data);
}

/** The event in a record; the whole record if it contains no event or cannot be read. */
function copyIn(record: string): string {
  try {
    return parseRetryRecord(record).line ?? record;
  } catch (error) {
    if (error instanceof FrameError) return record;
    throw error;
  }
}
