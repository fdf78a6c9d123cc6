import { FrameLine, lineOf } from '../events/read-event.ts';
import type { ReadEvent } from '../events/read-event.ts';
import { eventKey } from '../../../../shared/contracts/events/event-origin.ts';
import type { EventOrigin } from '../../../../shared/contracts/events/event-origin.ts';
import { parseResolved } from '../../../../shared/contracts/events/resolved-event.ts';
import type { EventHead, ResolvedEvent } from '../../../../shared/contracts/events/resolved-event.ts';
import type { ResolvedFrame } from '../../../../shared/contracts/events/resolved-frame.ts';
import type { OutboundEvent } from '../../../../shared/destinations/sdk/destination.ts';
import type { ByteWriter } from '../../../../shared/json/byte-writer.ts';
import type { Consented, DispatchPlan } from '../../../../shared/routing/dispatch-plan.ts';
import type { Subject } from '../../../../shared/routing/values/property-path.ts';
import type { Work } from '../../../../shared/routing/values/work.ts';
import type { Follower } from '../waiting/waiting-visitors.ts';
import { notAttempted } from '../events/attempted.ts';
import type { Attempted } from '../events/attempted.ts';
import type { FrameInFlight } from './frames-in-flight.ts';

/** The version that decides about events; its plan is undefined if its rules cannot be read. */
export type DecidingVersion = { readonly versionNumber: number; readonly plan: DispatchPlan | undefined };

/** Fresh events come from EVENTS, retried ones from the retry log. */
export type LaneClass = 'fresh' | 'retried';

/** The fields of an event's retry record, without its attempts. */
export type Recorded = {
  /** The event's place in EVENTS; undefined if an earlier build stored the record. */
  readonly origin: EventOrigin | undefined;
  /** Whether the record contains a copy of the event, because EVENTS may no longer have it. */
  readonly isCopied: boolean;
};

/** The decision about one attempt to send an event. */
export type Decided = Consented & {
  readonly by: DecidingVersion;
  readonly mapped: OutboundEvent['mapped'];
  /** Approximate bytes of the event in a request. */
  readonly bytes: number;
  readonly group: string | undefined;
};

/**
 * One event on its way to the destination. Only the head of a fresh event is read; the line is decoded for the request,
 * and parsed if a rule or a kind needs more. Decoded and parsed forms are dropped once the request is made: texts and
 * object trees that live as long as a request are the most expensive for garbage collection.
 */
export class DispatchItem implements OutboundEvent, Subject {
  readonly frame: FrameInFlight;
  /** Index of the event's line in its frame; undefined for a parked event. */
  readonly index: number | undefined;
  /** The attempts before this one. */
  readonly attempted: Attempted;
  /** Fields of the event's retry record; undefined for a fresh event. */
  readonly recorded: Recorded | undefined;
  /** Replaced at each attempt; undefined before the first. */
  decided: Decided | undefined;
  /** The work that rules may still spend on the event: set while they decide about it, and again for its request. */
  work: Work | undefined;
  readonly #read: ReadEvent;
  #parsed: ResolvedEvent | undefined;

  constructor(
    frame: FrameInFlight,
    read: ReadEvent,
    attempted: Attempted = notAttempted,
    index?: number,
    recorded?: Recorded,
  ) {
    this.frame = frame;
    this.index = index;
    this.attempted = attempted;
    this.recorded = recorded;
    this.#read = read;
  }

  get head(): EventHead {
    return this.#read.head;
  }

  get decidedBy(): DecidingVersion | undefined {
    return this.decided?.by;
  }

  get mapped(): OutboundEvent['mapped'] {
    return this.decided?.mapped;
  }

  get isLimited(): boolean {
    return this.decided?.isLimited === true;
  }

  get consentMode(): Consented['consentMode'] {
    return this.decided?.consentMode;
  }

  get group(): string | undefined {
    return this.decided?.group;
  }

  /** Approximate bytes of the event in a request: of its line before the first decision. */
  get bytes(): number {
    return this.decided?.bytes ?? this.#read.bytes;
  }

  get visitorId(): string {
    return this.#read.head.visitorId;
  }

  get lane(): LaneClass {
    return this.frame.source.kind === 'log' ? 'fresh' : 'retried';
  }

  /** The event's bytes before any mapping. */
  get bytesRead(): number {
    return this.#read.bytes;
  }

  get attempts(): number {
    return this.attempted.attempts;
  }

  /** The parked event, as one of the waiting events; undefined for an event that was not parked. */
  get follower(): Follower | undefined {
    const { source } = this.frame;
    return source.kind === 'parked' ? source.follower : undefined;
  }

  /** The event's place in EVENTS; undefined if an earlier build stored the event in the retry log. */
  get origin(): EventOrigin | undefined {
    const { source } = this.frame;
    if (this.index === undefined || source.kind !== 'log') return this.recorded?.origin;
    return { seq: source.message.seq, line: this.index };
  }

  /** Names the line that the event was read from: unique, and the same when the event is read again. */
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

  /** Distinguishes the event from all other events of its visitor. */
  get key(): string {
    return eventKey(this.head.id, this.origin);
  }

  /** The frame of EVENTS from which the event was read; undefined for a retry. */
  get frameRead(): ResolvedFrame | undefined {
    return this.lane === 'fresh' ? this.#line?.frame : undefined;
  }

  /** The event with its visitor as a line of the log: see `lineOf`. */
  get line(): string {
    return lineOf(this.#read);
  }

  /** The whole event. Throws FrameError if the line cannot be read after its head. */
  get resolved(): ResolvedEvent {
    const { rest } = this.#read;
    if (!(rest instanceof FrameLine)) return rest;
    return (this.#parsed ??= parseResolved(this.line));
  }

  /** Whether the whole event can be read, not only its head. */
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
    const line = this.#line;
    return line?.frame.eventJsonAt(line.index, this.head);
  }

  get writeJson(): ((writer: ByteWriter) => void) | undefined {
    const line = this.#line;
    return line === undefined ? undefined : (writer) => line.frame.writeEventJsonAt(writer, line.index, this.head);
  }

  /** Drops the parsed event. Call once the request is made or the event is parked: it is then rarely read again. */
  forgetParsed(): void {
    this.#parsed = undefined;
  }

  /** The event's line in its frame; undefined for an event that was parsed when it was read. */
  get #line(): FrameLine | undefined {
    const { rest } = this.#read;
    return rest instanceof FrameLine ? rest : undefined;
  }
}

/** Names a line of the retry log. */
export function retryLine(place: { readonly seq: number; readonly index: number | undefined } | undefined): string {
  return `retry ${place?.seq}.${place?.index}`;
}
