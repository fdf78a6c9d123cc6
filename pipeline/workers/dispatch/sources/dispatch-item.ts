import { FrameLine, lineOf } from '../events/read-event.ts';
import type { ReadEvent } from '../events/read-event.ts';
import { eventKey } from '../../../../shared/contracts/events/event-origin.ts';
import type { EventOrigin } from '../../../../shared/contracts/events/event-origin.ts';
import { parseResolved } from '../../../../shared/contracts/events/resolved-event.ts';
import type { EventHead, ResolvedEvent } from '../../../../shared/contracts/events/resolved-event.ts';
import type { ResolvedFrame } from '../../../../shared/contracts/events/resolved-frame.ts';
import type { OutboundEvent } from '../../../../shared/destinations/sdk/destination.ts';
import type { ByteWriter } from '../../../../shared/json/byte-writer.ts';
import type { DispatchPlan } from '../../../../shared/routing/dispatch-plan.ts';
import type { Subject } from '../../../../shared/routing/values/property-path.ts';
import type { Work } from '../../../../shared/routing/values/work.ts';
import type { Follower } from '../waiting/waiting-visitors.ts';
import type { Attempted } from '../events/attempted.ts';
import type { FrameInFlight } from './frames-in-flight.ts';

/** What decides about events: the rules of a version, where they can be read. */
export type DecidingVersion = { readonly versionNumber: number; readonly plan: DispatchPlan | undefined };

/** Fresh events have come from EVENTS, retried ones from the retry log. */
export type LaneClass = 'fresh' | 'retried';

/**
 * One event on its way to the destination. Of a fresh one only the head is read; its line becomes text for its request, is
 * parsed when a rule or a kind asks for more, and both are forgotten when the request is made: texts and trees of objects that
 * live as long as a request does are what garbage collection costs most for.
 */
export class DispatchItem implements OutboundEvent, Subject {
  readonly frame: FrameInFlight;
  readonly lane: LaneClass;
  /** Which line of its frame it is; undefined for one that was parked. */
  readonly index: number | undefined;
  readonly head: EventHead;
  /** About what it takes in a request. */
  bytes: number;
  /** The same without a mapping. */
  readonly bytesRead: number;
  readonly attempts: number;
  readonly firstAttemptAtMs: number | undefined;
  readonly heldAtMs: number | undefined;
  /** The version that its decision, mapped properties, size and group are from; undefined before it is decided. */
  decidedBy: DecidingVersion | undefined;
  mapped: OutboundEvent['mapped'];
  /** Set while the rules decide about it, and again for its request. */
  work: Work | undefined;
  group: string | undefined;
  /** Set where it was parked. */
  follower: Follower | undefined;
  /** Set for one of the retry log, unless an earlier build put it there. */
  recordedOrigin: EventOrigin | undefined;
  /** Whether its record has the event itself: EVENTS may have it no more. */
  isCopied = false;
  /** Undefined where the event came parsed. */
  readonly #line: FrameLine | undefined;
  #resolved: ResolvedEvent | undefined;
  constructor(
    frame: FrameInFlight,
    lane: LaneClass,
    { head, rest, bytes }: ReadEvent,
    attempted: Attempted,
    index?: number,
  ) {
    this.frame = frame;
    this.lane = lane;
    this.index = index;
    this.head = head;
    this.bytes = bytes;
    this.bytesRead = bytes;
    this.attempts = attempted.attempts;
    this.firstAttemptAtMs = attempted.firstAttemptAtMs;
    this.heldAtMs = attempted.heldAtMs;
    this.#line = rest instanceof FrameLine ? rest : undefined;
    this.#resolved = rest instanceof FrameLine ? undefined : rest;
  }

  get visitorId(): string {
    return this.head.visitorId;
  }

  /** Where EVENTS has it; undefined where an earlier build put it into the retry log. */
  get origin(): EventOrigin | undefined {
    const { source } = this.frame;
    if (this.index === undefined || source.kind !== 'log') return this.recordedOrigin;
    return { seq: source.message.seq, line: this.index };
  }

  /** The line it was read from. No other event has it, and read again it has the same. */
  get readFrom(): string {
    const { source } = this.frame;
    switch (source.kind) {
      case 'log':
        return `events ${source.message.seq}.${this.index}`;
      case 'retry':
        return retryLine({ seq: source.frame.seq, index: this.index });
      case 'parked':
        return retryLine(source.follower.place);
    }
  }

  /** Tells it apart from all other events of its visitor. */
  get key(): string {
    return eventKey(this.head.id, this.origin);
  }

  /** The frame of EVENTS it was read from; undefined for a retry. */
  get frameRead(): ResolvedFrame | undefined {
    return this.frame.source.kind === 'log' ? this.#line?.frame : undefined;
  }

  /** The event with its visitor as a line of the log, byte for byte. */
  get line(): string {
    return lineOf({ rest: this.#line ?? this.resolved });
  }

  /** Throws FrameError where what follows the head cannot be read. */
  get resolved(): ResolvedEvent {
    return (this.#resolved ??= parseResolved(this.line));
  }

  /** Whether all of it can be read, not its head alone. */
  get isReadable(): boolean {
    try {
      return this.resolved.v === 1;
    } catch {
      return false;
    }
  }

  get event(): ResolvedEvent['event'] {
    return this.resolved.event;
  }

  get visitor(): ResolvedEvent['visitor'] {
    return this.resolved.visitor;
  }

  get json(): string | undefined {
    return this.#line?.frame.eventJsonAt(this.#line.index, this.head);
  }

  get writeJson(): ((writer: ByteWriter) => void) | undefined {
    const line = this.#line;
    return line === undefined ? undefined : (writer) => line.frame.writeEventJsonAt(writer, line.index, this.head);
  }

  /** The request is made: nearly always nobody asks for the event again. */
  forgetParsed(): void {
    if (this.#line !== undefined) this.#resolved = undefined;
  }
}

/** Names a line of the retry log. */
export function retryLine(place: { readonly seq: number; readonly index: number | undefined } | undefined): string {
  return `retry ${place?.seq}.${place?.index}`;
}
