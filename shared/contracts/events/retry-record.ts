import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { FrameError, frameLines, lineDepthMax, parseLine } from './frame.ts';
import type { EventOrigin } from './event-origin.ts';
import { eventLineOf, joinEvent } from './raw-event.ts';
import type { ResolvedEvent } from './resolved-event.ts';
import type { RequestSummary } from './dead-letter.ts';
import { decodeJson, encodeJson, isJsonObject } from '../../runtime/json.ts';
import { refusedVersion } from '../log-format.ts';

/** The longest wait of each back-off tier, in ms. The last tier is for a Retry-After longer than any back-off. */
export const retryTierDelaysMs: readonly number[] = [1_000, 5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000];

/** Tiers from this number on may contain references. Builds of log format 1 read only the tiers that they know. */
const referenceTiers = 20;

/** The tier of a back-off delay; `delay` is an index of `retryTierDelaysMs`. */
export const retryTier = (delay: number): number => referenceTiers + delay;

/**
 * The index of a tier's delay in `retryTierDelaysMs`; undefined if it is not a back-off tier. Earlier builds used the
 * index as the tier.
 */
export function delayOfTier(tier: number): number | undefined {
  const delay = tier >= referenceTiers ? tier - referenceTiers : tier;
  return delay < retryTierDelaysMs.length ? delay : undefined;
}

/** The tier of replayed events. It is separate from the back-off tiers, so that a replay does not delay retries. */
export const replayTier = 94;

/** The tier of parked events: each waits for an earlier event of its visitor, not for a time. */
export const parkedTier = 96;

/** This tier contains no events: it records which lines are settled in parked frames that still have waiting events. */
export const settledNoteTier = 97;

/** The parked and replay tiers of builds with log format 1. */
const [parkedTierBefore, replayTierBefore] = [98, 99];
export const isReplayTier = (tier: number): boolean => tier === replayTier || tier === replayTierBefore;
export const isParkedTier = (tier: number): boolean => tier === parkedTier || tier === parkedTierBefore;
/** The tiers of parked events in reading order: those of earlier builds come first. */
export const parkedTiers: readonly number[] = [parkedTierBefore, parkedTier];
export const backOffTiers: readonly number[] = retryTierDelaysMs.flatMap((_, delay) => [delay, retryTier(delay)]);
export const eventTiers: ReadonlySet<number> = new Set([...backOffTiers, ...parkedTiers, replayTier, replayTierBefore]);

/** Bytes of a message of RETRY besides its payload: subject, id, and the server's fields. */
export const retryHeadBytes = 150;

/** An event that waits for another attempt: one line of a frame in the retry log. */
export type RetryRecord = {
  /**
   * Attempts so far; 0 for a replay, and for an event that was parked before its first attempt: its attempt times are
   * the time of parking.
   */
  readonly attempts: number;
  /** This and the other times of the record are in ms since the epoch. */
  readonly firstAttemptAt: number;
  readonly lastAttemptAt: number;
  readonly notBefore: number;
  /**
   * When the destination last refused its key or token in an attempt to send this event: such an attempt does not
   * count.
   */
  readonly heldAt?: number;
  readonly reason: string;
  readonly request?: RequestSummary;
  /** The event's position in EVENTS; undefined in records of earlier builds. */
  readonly origin?: EventOrigin;
  readonly visitorId: string;
  readonly eventId: string;
  readonly receivedAt: number;
  /** Approximate size of the event with its visitor, in bytes. */
  readonly bytes: number;
  /**
   * The event, kept here if EVENTS may no longer have it: in a replayed dead letter, or in a record of an earlier
   * build.
   */
  readonly line?: string;
};

const reference = Type.Tuple([
  Type.Literal(2),
  Type.Integer(), // Sequence and line in EVENTS.
  Type.Integer(),
  Type.String(), // Visitor and event.
  Type.String(),
  Type.Number(), // Receipt, then the first, the last and the next attempt, each relative to the previous time.
  Type.Number(),
  Type.Number(),
  Type.Number(),
  Type.Integer(), // Bytes and attempts.
  Type.Integer(),
  Type.String(), // Reason.
  Type.Number(), // Paused at; 0 for never.
  Type.Union([
    Type.Null(),
    Type.Object({ method: Type.String(), host: Type.String(), status: Type.Optional(Type.Number()) }),
  ]),
]);
const isReference = Compile(reference);

export function encodeRetryRecord(record: RetryRecord): string {
  const { line, visitorId, eventId, receivedAt, bytes, ...about } = record;
  if (line !== undefined) return joinEvent({ v: 1, ...about }, line);
  const {
    origin,
    attempts,
    firstAttemptAt: first,
    lastAttemptAt: last,
    notBefore,
    heldAt = 0,
    reason,
    request = null,
  } = about;
  if (origin === undefined) throw new Error('a record without its event needs the origin of the event');
  const times = [receivedAt, first - receivedAt, last - first, notBefore - last];
  return JSON.stringify([
    2,
    origin.seq,
    origin.line,
    visitorId,
    eventId,
    ...times,
    bytes,
    attempts,
    reason,
    heldAt,
    request,
  ]);
}

/** Reads a frame of the retry log. Throws FrameError for a format that this build does not know. */
export function decodeRetryFrame(data: Uint8Array): RetryRecord[] {
  return frameLines(data).map(parseRetryRecord);
}

/** Reads one line of a retry frame. Throws FrameError for a format that this build does not know. */
export function parseRetryRecord(text: string): RetryRecord {
  // The event is nested in its record.
  const record = parseLine(text, lineDepthMax + 1);
  if (Array.isArray(record)) return readReference(record);
  const { v, event, ...about } = (record ?? {}) as RetryRecord & {
    readonly v?: unknown;
    readonly event?: ResolvedEvent;
  };
  if (v !== 1) throw new FrameError(`reading the retry log: ${refusedVersion(v, 1)}`);
  const { id: visitorId } = event?.visitor ?? {};
  const { id: eventId, received_at: receivedAt } = event?.event ?? {};
  const line = eventLineOf(text);
  if (visitorId === undefined || eventId === undefined || receivedAt === undefined || line === undefined) {
    throw new FrameError('reading the retry log: a record lacks its event');
  }
  return { ...about, visitorId, eventId, receivedAt, bytes: line.length, line };
}

function readReference(found: unknown): RetryRecord {
  if (!isReference.Check(found)) {
    throw new FrameError(`reading the retry log: ${refusedVersion((found as readonly unknown[])[0], 2)}`);
  }
  const [, seq, line, visitorId, eventId, receivedAt, first, last, next, bytes, attempts, reason, heldAt, request] =
    found;
  const firstAttemptAt = receivedAt + first;
  const times = { firstAttemptAt, lastAttemptAt: firstAttemptAt + last, notBefore: firstAttemptAt + last + next };
  return {
    attempts,
    ...times,
    ...(heldAt === 0 ? {} : { heldAt }),
    reason,
    ...(request === null ? {} : { request }),
    origin: { seq, line },
    visitorId,
    eventId,
    receivedAt,
    bytes,
  };
}

/** Settled lines, by the sequence of their frame. */
type SettledLines = ReadonlyMap<number, readonly number[]>;

export function encodeSettledNote(settled: SettledLines): Uint8Array {
  return encodeJson({ v: 1, settled: [...settled] });
}

/**
 * Reads a note. An unknown format counts as an empty note, which is safe: events that no note covers are sent again.
 */
export function decodeSettledNote(data: Uint8Array): SettledLines {
  const note = decodeJson(data);
  const entries: readonly unknown[] =
    isJsonObject(note) && note['v'] === 1 && Array.isArray(note['settled']) ? note['settled'] : [];
  const settled = new Map<number, readonly number[]>();
  for (const entry of entries) {
    if (!Array.isArray(entry)) continue;
    const [seq, lines] = entry as readonly unknown[];
    if (typeof seq === 'number' && isLines(lines)) settled.set(seq, lines);
  }
  return settled;
}

function isLines(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((line) => typeof line === 'number');
}
