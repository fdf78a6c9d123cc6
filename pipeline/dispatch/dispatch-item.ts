import { frameLines } from '../../shared/events/frame.ts';
import { parseResolved } from '../../shared/events/resolved-event.ts';
import type { ResolvedEvent } from '../../shared/events/resolved-event.ts';
import type { OutboundEvent } from '../../shared/destinations/define.ts';
import type { HeldFrame } from './held-frames.ts';
import type { LaneClass, LaneItem } from './visitor-lanes.ts';

/** How often an event was attempted before, and when first, in ms since the epoch; 0 and undefined for a fresh one. */
export type Attempted = { readonly attempts: number; readonly firstAttemptAtMs: number | undefined };

/** How the resolver begins a line. */
const lineStart = '{"v":1,"event":';

/**
 * One event on its way to the destination. Of a fresh one the line it came in is kept, and it is parsed whenever somebody
 * asks: a tree of objects that lives as long as a request does is what garbage collection costs most for.
 */
export class DispatchItem implements LaneItem, OutboundEvent {
  readonly frame: HeldFrame;
  readonly lane: LaneClass;
  readonly attempts: number;
  readonly firstAttemptAtMs: number | undefined;
  readonly visitorId: string;
  readonly eventId: string;
  readonly sourceId: string;
  readonly receivedAtMs: number;
  mapped: OutboundEvent['mapped'];
  group: string | undefined;
  readonly #line: string | undefined;
  #resolved: ResolvedEvent | undefined;

  constructor(frame: HeldFrame, lane: LaneClass, resolved: ResolvedEvent, attempted: Attempted, line?: string) {
    this.frame = frame;
    this.lane = lane;
    this.attempts = attempted.attempts;
    this.firstAttemptAtMs = attempted.firstAttemptAtMs;
    this.visitorId = resolved.visitor.id;
    this.eventId = resolved.event.id;
    this.sourceId = resolved.event.source_id;
    this.receivedAtMs = resolved.event.received_at;
    this.#resolved = resolved;
    this.#line = line;
  }

  get resolved(): ResolvedEvent {
    return (this.#resolved ??= parseResolved(this.#line ?? ''));
  }

  get json(): string | undefined {
    return this.#line === undefined ? undefined : jsonOf(this.#line);
  }

  /** The request is made: nearly always nobody asks for the event again. */
  forgetParsed(): void {
    if (this.#line !== undefined) this.#resolved = undefined;
  }
}

/** Reads the event of a line; undefined for one this build does not know. */
export function readResolvedLine(line: string): ResolvedEvent | undefined {
  try {
    return parseResolved(line);
  } catch {
    return undefined;
  }
}

/** The lines of a frame; a frame that ends within one is a single line that nobody can read. */
export function resolvedLines(data: Uint8Array): readonly string[] {
  try {
    return frameLines(data);
  } catch {
    return [Buffer.from(data).toString('utf8')];
  }
}

/** The line without its version, where it is written as the resolver writes it. */
function jsonOf(line: string): string | undefined {
  return line.startsWith(lineStart) ? `{${line.slice('{"v":1,'.length)}` : undefined;
}
