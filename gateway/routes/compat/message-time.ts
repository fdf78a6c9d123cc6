import type { JsonObject } from '../../../shared/runtime/json.ts';
import type { Arrival } from './translation.ts';

/** What an event that was moved into the window says of when it claims to have happened, in ms since the epoch. */
export const clampedFromKey = 'time_clamped_from';

export type MessageTime = {
  /** Undefined: when it arrived. */
  readonly timeMs: number | undefined;
  /** What it was before it was moved into the window in which events are taken; undefined where it was not. */
  readonly clampedFromMs: number | undefined;
};

const arrivalTime: MessageTime = { timeMs: undefined, clampedFromMs: undefined };

/**
 * When an event happened by its sender's clock, corrected by what that clock said when the request was sent: the sender
 * may be off, the way here is short. A time outside the window is moved to its edge, or to now if it lies ahead, since
 * these senders count a refused event as delivered.
 */
export function messageTime(original: unknown, sentAt: unknown, { atMs, timeWindow }: Arrival): MessageTime {
  const happenedMs = readTime(original);
  if (happenedMs === undefined) return arrivalTime;
  const sentMs = readTime(sentAt);
  const timeMs = sentMs === undefined ? happenedMs : happenedMs + (atMs - sentMs);
  if (timeMs < atMs - timeWindow.pastMsMax) return { timeMs: atMs - timeWindow.pastMsMax, clampedFromMs: timeMs };
  if (timeMs > atMs + timeWindow.aheadMsMax) return { timeMs: atMs, clampedFromMs: timeMs };
  return { timeMs, clampedFromMs: undefined };
}

/** What the context of an event that was moved says of it. */
export function clampedContext({ clampedFromMs }: MessageTime): JsonObject | undefined {
  return clampedFromMs === undefined ? undefined : { [clampedFromKey]: clampedFromMs };
}

const withoutZone = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/;

/** Ms since the epoch of an ISO 8601 text, which is UTC where it names no zone, or of a number of them. */
export function readTime(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? Math.round(value) : undefined;
  if (typeof value !== 'string' || value === '') return undefined;
  // The parser reads a time without a zone as one of this machine's.
  const timeMs = Date.parse(withoutZone.test(value) ? `${value}Z` : value);
  return Number.isNaN(timeMs) ? undefined : timeMs;
}
