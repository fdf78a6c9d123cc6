import { eventJsonOf, readEventHead } from '../../../../shared/contracts/events/resolved-event.ts';
import type { EventHead } from '../../../../shared/contracts/events/resolved-event.ts';
import { frameLines } from '../../../../shared/contracts/events/frame.ts';
import { headOf, parseResolved } from '../../../../shared/contracts/events/resolved-event.ts';
import type { ResolvedEvent } from '../../../../shared/contracts/events/resolved-event.ts';
import type { OutboundEvent } from '../../../../shared/destinations/sdk/destination.ts';
import type { Subject } from '../../../../shared/routing/values/property-path.ts';
import type { Follower } from '../parked/waiting-visitors.ts';
import type { Attempted } from '../retry/retry-policy.ts';
import type { FrameInFlight } from './frames-in-flight.ts';

/** Fresh events have come from EVENTS, retried ones from the retry log. */
export type LaneClass = 'fresh' | 'retried';

/** An event as it was read: its head, and the line that has the rest, or the whole of it. */
export type ReadEvent = {
  readonly head: EventHead;
  readonly line: string;
  readonly resolved: ResolvedEvent | undefined;
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
  readonly attempts: number;
  readonly firstAttemptAtMs: number | undefined;
  readonly heldAtMs: number | undefined;
  mapped: OutboundEvent['mapped'];
  group: string | undefined;
  /** Set where it was parked. */
  follower: Follower | undefined;
  /** As it came from the log; empty where the event came otherwise, parsed. */
  readonly line: string;
  #resolved: ResolvedEvent | undefined;

  constructor(
    frame: FrameInFlight,
    lane: LaneClass,
    { head, line, resolved }: ReadEvent,
    attempted: Attempted,
    index?: number,
  ) {
    this.frame = frame;
    this.lane = lane;
    this.index = index;
    this.head = head;
    this.attempts = attempted.attempts;
    this.firstAttemptAtMs = attempted.firstAttemptAtMs;
    this.heldAtMs = attempted.heldAtMs;
    this.line = line;
    this.#resolved = resolved;
  }

  get visitorId(): string {
    return this.head.visitorId;
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
    return this.line === '' ? undefined : eventJsonOf(this.line, this.head);
  }

  /** The request is made: nearly always nobody asks for the event again. */
  forgetParsed(): void {
    if (this.line !== '') this.#resolved = undefined;
  }
}

/** Reads a line; undefined for one this build does not know. */
export function readResolvedLine(line: string): ReadEvent | undefined {
  const head = readEventHead(line);
  if (head !== undefined) return { head, line, resolved: undefined };
  const resolved = readWholeLine(line);
  return resolved === undefined ? undefined : wholeEvent(resolved);
}

/** Reads all of a line; undefined for one this build does not know. */
export function readWholeLine(line: string): ResolvedEvent | undefined {
  try {
    return parseResolved(line);
  } catch {
    return undefined;
  }
}

/** An event that was parsed already, such as one of the retry log. */
export function wholeEvent(resolved: ResolvedEvent): ReadEvent {
  return { head: headOf(resolved), line: '', resolved };
}

/** The lines of a frame; a frame that ends within one is a single line that nobody can read. */
export function resolvedLines(data: Uint8Array): readonly string[] {
  try {
    return frameLines(data);
  } catch {
    return [Buffer.from(data).toString('utf8')];
  }
}
