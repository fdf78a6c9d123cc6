import { decodeJson, encodeJson, isJsonObject } from '../../runtime/json.ts';
import type { EventOrigin } from './event-origin.ts';
import type { Exchange } from './exchange.ts';
import { eventLineOf, joinEvent } from './raw-event.ts';
import type { ResolvedEvent } from './resolved-event.ts';

/**
 * An event that a destination refused: one message of `dead.<destination>`. The subject also contains the messages of
 * `encodeUnreadable`. Events that a resolver cannot process are stored under `dead-ingest.<partition>-<account>` in
 * another format: the bytes of the line or frame as received, with `ingestDeadLetterHeaders`.
 */
export type DeadLetter = {
  readonly v: 1;
  readonly destinationId: string;
  readonly reason: string;
  readonly attempts: number;
  /** Ms since the epoch. */
  readonly firstAttemptAt: number;
  readonly lastAttemptAt: number;
  /** A summary of the last request without what may be secret: it has no path, query, header or body. */
  readonly request?: RequestSummary;
  /** The last request and its answer. Undefined if no request was made, and in letters of earlier builds. */
  readonly exchange?: Exchange;
  /** Undefined in letters of earlier builds. */
  readonly origin?: EventOrigin;
  readonly event: ResolvedEvent;
};

export type RequestSummary = {
  readonly method: string;
  readonly host: string;
  /** Undefined if there was no answer. */
  readonly status?: number;
};

/** `event` is a parsed event, or an event's line in the log, which is kept byte for byte. */
export function encodeDeadLetter({
  event,
  ...about
}: Omit<DeadLetter, 'event'> & { readonly event: ResolvedEvent | string }): Uint8Array {
  return Buffer.from(joinEvent(about, typeof event === 'string' ? event : JSON.stringify(event)));
}

/** The event of a dead letter as a line, byte for byte. Only for letters that `decodeDeadLetter` can read. */
export function lineOfDeadLetter(data: Uint8Array): string | undefined {
  return eventLineOf(Buffer.from(data).toString());
}

/** A message for bytes of the log that a destination's dispatcher cannot read. `decodeDeadLetter` ignores it. */
export function encodeUnreadable(destinationId: string, reason: string, data: Uint8Array): Uint8Array {
  const raw = Buffer.from(data).toString('base64');
  return encodeJson({ v: 1, destinationId, reason, raw });
}

/** Reads a dead letter; undefined for a format that this build does not know. */
export function decodeDeadLetter(data: Uint8Array): DeadLetter | undefined {
  const letter = decodeJson(data);
  return isJsonObject(letter) && letter['v'] === 1 && isJsonObject(letter['event']) && letter['event']['v'] === 1
    ? (letter as DeadLetter)
    : undefined;
}

/** Headers of a dead letter of ingest. Its payload is the unprocessable bytes as received. */
export const ingestDeadLetterHeaders = {
  reason: 'Sluice-Reason',
  /** The place in the ingest stream: `<sequence>` of a frame, or `<sequence>.<line>`. */
  origin: 'Sluice-Origin',
  /** `<n>/<of>` if the payload was divided because it is too large for one message. */
  part: 'Sluice-Part',
} as const;

/** Selects dead letters of a destination by reason, by the platform's answer, and by the time of the last attempt. */
export type DeadLetterFilter = {
  readonly reason?: string | undefined;
  /** The platform's message; only the whole message matches. */
  readonly message?: string | undefined;
  readonly eventIds?: readonly string[] | undefined;
  /** Ms since the epoch; the last attempt was at or after it. */
  readonly fromMs?: number | undefined;
  /** Ms since the epoch; the last attempt was before it. */
  readonly toMs?: number | undefined;
};

export function matchesFilter(
  letter: DeadLetter,
  { reason, message, eventIds, fromMs, toMs }: DeadLetterFilter,
): boolean {
  if (reason !== undefined && letter.reason !== reason) return false;
  if (message !== undefined && letter.exchange?.answer?.message !== message) return false;
  if (eventIds !== undefined && !eventIds.includes(letter.event.event.id)) return false;
  return letter.lastAttemptAt >= (fromMs ?? 0) && letter.lastAttemptAt < (toMs ?? Infinity);
}

/**
 * Largest difference between the clocks of a pipeline and of the log, in ms. A dead letter is stored after its last
 * attempt, so a search from `fromMs` starts this much earlier in the log.
 */
export const clockSlackMs = 60_000;
