import { isJsonObject } from '../../runtime/json.ts';
import { lineStart } from './event-head.ts';
import type { EventHead } from './event-head.ts';
import { FrameError, frameLines, parseLine } from './frame.ts';

type Json = Readonly<Record<string, unknown>>;

/** What the resolver writes and every destination reads: the event with its visitor. Templates and rules address these paths. */
export type ResolvedEvent = {
  readonly v: 1;
  readonly event: {
    /** The event's own id: idempotency key of every delivery. */
    readonly id: string;
    /** The event's name; `$identify` for an identify. */
    readonly event: string;
    /** When it happened, in ms since the epoch. */
    readonly time: number;
    readonly received_at: number;
    readonly source_id: string;
    readonly account_id: string;
    /** Sent with a test-mode key: seen in recent events, never dispatched. */
    readonly test: boolean;
    readonly trace?: string;
    readonly event_properties: Json;
    /** defaultProperties of the payload, with `ip` and `user_agent` of the request where they may be kept. */
    readonly context: Json;
    /** The account's live version when the event was resolved. */
    readonly version_number?: number;
  };
  readonly visitor: ResolvedVisitor;
};

/** The visitor as it was after this event: well-known and own properties side by side. */
export type ResolvedVisitor = {
  readonly id: string;
  readonly external_id?: string;
  readonly email?: string;
  readonly custom_properties: Json;
  readonly [property: string]: unknown;
};

/** Header of a resolved frame: base64 of the 64-bit hashes of its events' ids, so that a headers-only reader rebuilds deduplication. */
export const idsHeader = 'Sluice-Ids';

export function encodeResolved({ event, visitor }: ResolvedEvent): string {
  return resolvedLine(visitor.id, JSON.stringify(event), JSON.stringify(visitor));
}

/** A line of a resolved frame, put together from the JSON of its parts. */
export function resolvedLine(visitorId: string, eventJson: string, visitorJson: string): string {
  return `${lineStart(visitorId)}${eventJson},"visitor":${visitorJson}}`;
}

/** The head of an event that is there as a whole. */
export function headOf({ event, visitor }: ResolvedEvent): EventHead {
  return {
    id: event.id,
    name: event.event,
    visitorId: visitor.id,
    sourceId: event.source_id,
    receivedAtMs: event.received_at,
    isTest: event.test,
    trace: event.trace,
  };
}

/** Reads a frame of resolved events. Throws FrameError on a version or a line this build does not know. */
export function decodeResolved(bytes: Uint8Array): ResolvedEvent[] {
  return frameLines(bytes).map(parseResolved);
}

/** Reads one line of a resolved frame. Throws FrameError on a version or a line this build does not know. */
export function parseResolved(line: string): ResolvedEvent {
  const value = parseLine(line);
  if (!isJsonObject(value)) throw new FrameError('reading a resolved frame: a line is no object');
  const { v, event, visitor } = value;
  if (v !== 1) throw new FrameError(`reading a resolved frame: version ${String(v)} is unknown`);
  if (!isJsonObject(event) || !isJsonObject(visitor)) {
    throw new FrameError('reading a resolved frame: a line misses its event or its visitor');
  }
  return { v, event: event as ResolvedEvent['event'], visitor: visitor as ResolvedVisitor };
}
