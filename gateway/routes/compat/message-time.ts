import type { Arrival } from './translation.ts';

/** The original time of an event that was moved into the accepted window, in ms since the epoch. */
const clampedFromKey = 'time_clamped_from';

/** The key in an event's context for the text of a time that could not be read. */
const originalTimeKey = 'original_time';
const originalTimeCharactersMax = 100;

export type MessageTime = {
  /** Undefined: the time of arrival counts. */
  readonly timeMs: number | undefined;
  /** The time before it was moved into the accepted window; undefined if it was not moved. */
  readonly clampedFromMs: number | undefined;
  /** The text of a time that cannot be read. */
  readonly unread?: string;
};

const arrivalTime: MessageTime = { timeMs: undefined, clampedFromMs: undefined };

/** Records the sender's original time in an event's context, if the time was moved or could not be read. */
export function recordTime(context: Record<string, unknown>, { clampedFromMs, unread }: MessageTime): void {
  if (clampedFromMs !== undefined) context[clampedFromKey] = clampedFromMs;
  if (unread !== undefined) context[originalTimeKey] = unread;
}

/**
 * The time of an event by its sender's clock, corrected by the error that this clock showed when the request was sent;
 * the time of transfer is neglected. A time before the window is moved to its start and a time after it to now, since
 * these senders count a refused event as delivered.
 */
export function messageTime(original: unknown, sentAt: unknown, arrival: Arrival): MessageTime {
  const happenedMs = readTime(original);
  if (happenedMs === undefined && typeof original === 'string' && original !== '') {
    return { ...arrivalTime, unread: original.slice(0, originalTimeCharactersMax) };
  }
  return messageTimeOf(happenedMs, readTime(sentAt) ?? arrival.sentAtMs, arrival);
}

/** Like `messageTime`, for times that were already read. */
export function messageTimeOf(
  happenedMs: number | undefined,
  sentMs: number | undefined,
  { atMs, timeWindow }: Arrival,
): MessageTime {
  if (happenedMs === undefined) return arrivalTime;
  const timeMs = sentMs === undefined ? happenedMs : happenedMs + (atMs - sentMs);
  if (timeMs < atMs - timeWindow.pastMsMax) return { timeMs: atMs - timeWindow.pastMsMax, clampedFromMs: timeMs };
  if (timeMs > atMs + timeWindow.aheadMsMax) return { timeMs: atMs, clampedFromMs: timeMs };
  return { timeMs, clampedFromMs: undefined };
}

/** The end of a text that names its zone. The parenthesis is from Date.prototype.toString: "GMT+0200 (Central …)". */
const zone = /(?:z|ut|utc|gmt|[ecmp][sd]t|[+-]\d{2}:?\d{2}|\))$/i;
/** Date.parse reads a date without a time as UTC. */
const dateAlone = /^\d{4}(?:-\d{2}){0,2}$/;

/** Ms since the epoch of a number of ms, or of a text that Date.parse reads. A text without a zone is UTC. */
export function readTime(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? Math.round(value) : undefined;
  if (typeof value !== 'string' || value === '') return undefined;
  if (value !== last.text) {
    const timeMs = parseTime(value);
    last = { text: value, timeMs: Number.isNaN(timeMs) ? undefined : timeMs };
  }
  return last.timeMs;
}

/** Completes ISO 8601 that Date.parse does not read: a comma before the fraction, and a zone of hours alone. */
const inFull = (text: string): string =>
  text.replace(/(:\d{2}),(?=\d)/, '$1.').replace(/(:\d{2}(?:\.\d+)?) ?([+-]\d{2})$/, '$1$2:00');

/** Reads a time without a zone as UTC. Date.parse alone would use the time zone of the process. */
function parseTime(given: string): number {
  const text = inFull(given);
  if (zone.test(text) || dateAlone.test(text)) return Date.parse(text);
  const timeMs = Date.parse(`${text.replace(' ', 'T')}Z`);
  return Number.isNaN(timeMs) ? Date.parse(`${text} UTC`) : timeMs;
}

/** The last text, cached because each message of a request needs the time at which the request was sent. */
let last: { readonly text: string; readonly timeMs: number | undefined } = { text: '', timeMs: undefined };
