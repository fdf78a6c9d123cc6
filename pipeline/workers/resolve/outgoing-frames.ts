import { createHash } from 'node:crypto';
import { compressFrame } from '../../../shared/contracts/events/compressed-frame.ts';
import type { FrameWriter } from '../../../shared/contracts/events/frame.ts';
import { encodeHashes } from '../../../shared/contracts/events/event-hash.ts';
import type { EventHash } from '../../../shared/contracts/events/event-hash.ts';
import { behindEvent, visitorReference } from '../../../shared/contracts/events/resolved-event.ts';
import type { ReusedWriters } from '../../../shared/json/reused-writers.ts';
import type { Stretch } from '../../../shared/json/byte-writer.ts';
import type { VisitorLine, VisitorProperties } from '../../../shared/visitors/visitor-properties.ts';
import { encodeVisitorLine } from './encode-event.ts';
import type { VisitorRateLimit } from './visitor-rate-limit.ts';

/** A frame of resolved events of one account, ready to be published. */
export type OutgoingFrame = {
  readonly accountId: string;
  readonly payload: Uint8Array;
  /** The frame's lines, uncompressed. */
  readonly lines: Uint8Array;
  readonly events: number;
  /** Packed hashes of its events' ids, in order. A released event has two. */
  readonly ids: string;
  /** Two frames of the same events have the same id, in every process. */
  readonly msgId: string;
};

/** A resolved event. */
export type OutgoingEvent = {
  readonly accountId: string;
  readonly hash: EventHash;
  /** See `Candidate`. */
  readonly unreleased?: EventHash | undefined;
  /** The event's part of the line, as JSON. */
  readonly json: Stretch;
  /** Bytes that the client sent for this event. */
  readonly sentBytes: number;
  readonly visitorId: string;
  readonly properties: VisitorProperties;
};

export type Compression = {
  /**
   * Which frames are compressed: none, those that are much larger than what their clients sent, or all. An ordinary
   * frame stays text that an operator can read in the log.
   */
  readonly frames: 'off' | 'grown' | 'all';
  /** A frame below this size is never compressed: that would save little, at nearly the same cost. */
  readonly frameBytesMin: number;
  /** A frame has grown once it is this many times as large as what its clients sent. */
  readonly grownTimes: number;
};

export type FrameLimits = {
  /** A frame is closed before an event would make it larger than this. */
  readonly frameBytesMax: number;
  /** Size limit of a line. */
  readonly lineBytesMax: number;
  readonly writesVisitorsOnce: boolean;
  readonly compression: Compression;
};

type OpenFrame = {
  readonly writer: FrameWriter;
  readonly hashes: EventHash[];
  sentBytes: number;
  /** Visitors that a line of the frame contains, by visitor id. */
  readonly visitors: Map<string, WrittenVisitor>;
};

type WrittenVisitor = {
  readonly properties: VisitorProperties;
  readonly line: VisitorLine;
  /** Index of the line in the frame that contains the visitor. */
  readonly at: number;
  /**
   * The end of each further line with this visitor, in ASCII: a reference to line `at`. Made for the first such line.
   */
  reference: string | undefined;
};

/**
 * Collects resolved events into frames by account, in the order in which they are added. While a visitor does not
 * change, it is written once per frame; it is shortened if its account is over its rate limit.
 */
export class OutgoingFrames {
  readonly #limits: FrameLimits;
  readonly #visitorLimit: VisitorRateLimit;
  readonly #writers: ReusedWriters<FrameWriter>;
  readonly #open = new Map<string, OpenFrame>();
  readonly #closed: OutgoingFrame[] = [];
  /** Number of visitors that were shortened, by account. */
  readonly cutVisitors = new Map<string, number>();

  constructor(limits: FrameLimits, visitorLimit: VisitorRateLimit, writers: ReusedWriters<FrameWriter>) {
    this.#limits = limits;
    this.#visitorLimit = visitorLimit;
    this.#writers = writers;
  }

  /** Adds an event. Returns false, and adds nothing, if the event with its visitor exceeds the size limit of a line. */
  add(event: OutgoingEvent): boolean {
    const { accountId, json, visitorId, properties } = event;
    const frame = this.#frameOf(accountId);
    const ownBytes = json.end - json.start;
    const known = frame.visitors.get(visitorId);
    if (this.#limits.writesVisitorsOnce && known?.properties === properties) {
      const { before } = known.line;
      const behind = (known.reference ??= behindEvent(visitorReference(known.at, known.line.characters)));
      const bytes = Buffer.byteLength(before) + ownBytes + behind.length;
      if (bytes <= this.#limits.lineBytesMax && this.#hasRoom(frame, bytes)) {
        append(frame, event, before, behind);
        return true;
      }
    }
    const travelling = this.#visitorLimit.spend(accountId, properties);
    const line = travelling.lineOf(visitorId, encodeVisitorLine);
    const bytes = line.bytes + ownBytes;
    if (bytes > this.#limits.lineBytesMax) return false;
    if (!this.#hasRoom(frame, bytes)) this.#close(accountId, frame);
    if (travelling !== properties) this.cutVisitors.set(accountId, (this.cutVisitors.get(accountId) ?? 0) + 1);
    frame.visitors.set(visitorId, { properties, line, at: frame.writer.events, reference: undefined });
    append(frame, event, line.before, line.behind);
    return true;
  }

  /** Closes and returns all frames; the frames of each account are in order. */
  finish(): OutgoingFrame[] {
    for (const [accountId, frame] of this.#open) {
      if (frame.writer.events > 0) this.#close(accountId, frame);
      this.#writers.giveBack(frame.writer);
    }
    this.#open.clear();
    return this.#closed;
  }

  #frameOf(accountId: string): OpenFrame {
    let frame = this.#open.get(accountId);
    if (frame === undefined) {
      frame = { writer: this.#writers.take(), hashes: [], sentBytes: 0, visitors: new Map() };
      this.#open.set(accountId, frame);
    }
    return frame;
  }

  #hasRoom({ writer }: OpenFrame, lineBytes: number): boolean {
    return writer.events === 0 || writer.length + lineBytes + 1 <= this.#limits.frameBytesMax;
  }

  #close(accountId: string, frame: OpenFrame): void {
    const { writer, hashes, visitors } = frame;
    const ids = encodeHashes(hashes.splice(0));
    const digest = createHash('sha256').update(accountId).update(ids).digest('base64url').slice(0, 27);
    const lines = writer.bytes();
    this.#closed.push({
      accountId,
      payload: this.#isCompressed(frame) ? compressFrame(lines) : lines,
      lines,
      events: writer.events,
      ids,
      msgId: `r-${digest}`,
    });
    frame.sentBytes = 0;
    writer.reset();
    visitors.clear();
  }

  #isCompressed({ writer, sentBytes }: OpenFrame): boolean {
    const { frames, frameBytesMin, grownTimes } = this.#limits.compression;
    if (frames === 'off' || writer.length < frameBytesMin) return false;
    return frames === 'all' || writer.length > sentBytes * grownTimes;
  }
}

function append(frame: OpenFrame, event: OutgoingEvent, before: string, behind: string): void {
  const { json, hash, unreleased, sentBytes } = event;
  frame.writer.appendLineOf(before, json, behind);
  frame.hashes.push(hash);
  if (unreleased !== undefined) frame.hashes.push(unreleased);
  frame.sentBytes += sentBytes;
}
