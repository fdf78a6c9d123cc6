import {
  eventJsonOf,
  readEventHead,
  visitorElsewhere,
  withVisitor,
} from '../../../../shared/contracts/events/resolved-event.ts';
import type { EventHead } from '../../../../shared/contracts/events/resolved-event.ts';
import { headOf, parseResolved } from '../../../../shared/contracts/events/resolved-event.ts';
import type { ResolvedEvent } from '../../../../shared/contracts/events/resolved-event.ts';
import type { OutboundEvent } from '../../../../shared/destinations/sdk/destination.ts';
import type { Subject } from '../../../../shared/routing/values/property-path.ts';
import type { Work } from '../../../../shared/routing/values/work.ts';
import type { Follower } from '../parked/waiting-visitors.ts';
import type { Attempted } from '../retry/retry-policy.ts';
import type { FrameInFlight } from './frames-in-flight.ts';

/** Fresh events have come from EVENTS, retried ones from the retry log. */
export type LaneClass = 'fresh' | 'retried';

/** An event as it was read: its head, and the line that has the rest, or the whole of it. */
export type ReadEvent = {
  readonly head: EventHead;
  /** As the log has it: the visitor may stand in another line of the frame. */
  readonly line: string;
  /** The JSON of its visitor where another line has it. */
  readonly visitorJson: string | undefined;
  readonly resolved: ResolvedEvent | undefined;
  /** About what it takes in a request, its visitor included. */
  readonly bytes: number;
};

/**
 * One event on its way to the destination. Of a fresh one only the head is read; the line is parsed when a rule or a kind
 * asks for more, and forgotten when the request is made: a tree of objects that lives as long as a request does is what
 * garbage collection costs most for.
 */
export class DispatchItem implements OutboundEvent, Subject {
  readonly frame: FrameInFlight;
  readonly lane: LaneClass;
  /** Which line of its frame it is; undefined for one of the retry log. */
  readonly index: number | undefined;
  readonly head: EventHead;
  /** About what it takes in a request. */
  bytes: number;
  readonly attempts: number;
  readonly firstAttemptAtMs: number | undefined;
  readonly heldAtMs: number | undefined;
  mapped: OutboundEvent['mapped'];
  /** Set while the rules decide about it, and anew for its request. */
  work: Work | undefined;
  group: string | undefined;
  /** Set where it was parked. */
  follower: Follower | undefined;
  /** Empty where the event came parsed. */
  readonly #line: string;
  readonly #visitorJson: string | undefined;
  #resolved: ResolvedEvent | undefined;

  constructor(
    frame: FrameInFlight,
    lane: LaneClass,
    { head, line, visitorJson, resolved, bytes }: ReadEvent,
    attempted: Attempted,
    index?: number,
  ) {
    this.frame = frame;
    this.lane = lane;
    this.index = index;
    this.head = head;
    this.bytes = bytes;
    this.attempts = attempted.attempts;
    this.firstAttemptAtMs = attempted.firstAttemptAtMs;
    this.heldAtMs = attempted.heldAtMs;
    this.#line = line;
    this.#visitorJson = visitorJson;
    this.#resolved = resolved;
  }

  get visitorId(): string {
    return this.head.visitorId;
  }

  /** The event with its visitor as a line of the log; made anew each time, since many a line shares its visitor. */
  get line(): string {
    return withVisitor(this.#line, this.#visitorJson);
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
    return this.#line === '' ? undefined : eventJsonOf(this.#line, this.head, this.#visitorJson);
  }

  /** The request is made: nearly always nobody asks for the event again. */
  forgetParsed(): void {
    if (this.#line !== '') this.#resolved = undefined;
  }
}

/** Reads a line of a frame; undefined for one this build does not know. */
export function readFrameLine(lines: readonly string[], index: number): ReadEvent | undefined {
  const line = lines[index] ?? '';
  try {
    const visitorJson = visitorElsewhere(line, (at) => lines[at]);
    const head = readEventHead(line);
    const bytes = line.length + (visitorJson?.length ?? 0);
    return head === undefined
      ? wholeEvent(parseResolved(withVisitor(line, visitorJson)), bytes)
      : { head, line, visitorJson, resolved: undefined, bytes };
  } catch {
    return undefined;
  }
}

/** Reads all of a line of a frame; undefined for one this build does not know. */
export function readWholeLine(lines: readonly string[], index: number): ResolvedEvent | undefined {
  const line = lines[index] ?? '';
  try {
    return parseResolved(
      withVisitor(
        line,
        visitorElsewhere(line, (at) => lines[at]),
      ),
    );
  } catch {
    return undefined;
  }
}

/** An event that was parsed already, such as one of the retry log. */
export function wholeEvent(resolved: ResolvedEvent, bytes: number): ReadEvent {
  return { head: headOf(resolved), line: '', visitorJson: undefined, resolved, bytes };
}
