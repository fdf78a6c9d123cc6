import { decodeJson, encodeJson, isJsonObject } from '../../runtime/json.ts';
import type { EventOrigin } from './event-origin.ts';
import type { Exchange } from './exchange.ts';
import { eventLineOf, joinEvent } from './raw-event.ts';
import type { ResolvedEvent } from './resolved-event.ts';

/**
 * An event a destination did not take: one message of `dead.<destination>`. Beside it that subject holds
 * what `encodeUnreadable` writes. What a resolver cannot process is at `dead-ingest.<partition>-<account>` in a format of its own: the bytes of
 * the line or frame as they came, described by `ingestDeadLetterHeaders`.
 */
export type DeadLetter = {
  readonly v: 1;
  readonly destinationId: string;
  readonly reason: string;
  readonly attempts: number;
  /** Ms since the epoch. */
  readonly firstAttemptAt: number;
  readonly lastAttemptAt: number;
  /** The last request without what may be secret in it: no path, query, header or body. */
  readonly request?: RequestSummary;
  /** That request and its answer. Undefined where no request was made, and in what earlier builds wrote. */
  readonly exchange?: Exchange;
  /** Undefined in what earlier builds wrote. */
  readonly origin?: EventOrigin;
  readonly event: ResolvedEvent;
};

export type RequestSummary = {
  readonly method: string;
  readonly host: string;
  /** Undefined when there was no answer. */
  readonly status?: number;
};

/** `event` is a parsed event, or its line in the log, which is kept byte for byte. */
export function encodeDeadLetter({
  event,
  ...about
}: Omit<DeadLetter, 'event'> & { readonly event: ResolvedEvent | string }): Uint8Array {
  return Buffer.from(joinEvent(about, typeof event === 'string' ? event : JSON.stringify(event)));
}

/** The event of a dead letter as a line, byte for byte. Call it with what `decodeDeadLetter` knows. */
export function lineOfDeadLetter(data: Uint8Array): string | undefined {
  return eventLineOf(Buffer.from(data).toString());
}

/** A message for bytes of the log that a destination's dispatcher cannot read. `decodeDeadLetter` knows it for none. */
export function encodeUnreadable(destinationId: string, reason: string, data: Uint8Array): Uint8Array {
  const raw = Buffer.from(data).toString('base64');
  return encodeJson({ v: 1, destinationId, reason, raw });
}

/** Reads a dead letter; undefined when the message is none this build knows. */
export function decodeDeadLetter(data: Uint8Array): DeadLetter | undefined {
  const letter = decodeJson(data);
  return isJsonObject(letter) && letter['v'] === 1 && isJsonObject(letter['event']) && letter['event']['v'] === 1
    ? (letter as DeadLetter)
    : undefined;
}

/** Headers of a dead letter of ingest, whose payload is what no resolver could read, as it came. */
export const ingestDeadLetterHeaders = {
  reason: 'Sluice-Reason',
  /** `<sequence>` or `<sequence>.<line>` in the ingest stream. */
  origin: 'Sluice-Origin',
  /** `<n>/<of>` where a payload had to be cut to fit into messages. */
  part: 'Sluice-Part',
} as const;

/** Selects dead letters of a destination by reason, by what the platform answered, and by the time of the last attempt. */
export type DeadLetterFilter = {
  readonly reason?: string | undefined;
  /** The platform's message is exactly this one. */
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
 * What the clocks of a pipeline and of the log may differ by, in ms. A dead letter is stored after its last attempt, so
 * one of `fromMs` or later lies behind this long before it in the log.
 */
export const clockSlackMs = 60_000;
