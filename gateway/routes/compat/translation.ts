import { numberText } from '../../../shared/json/exact-numbers.ts';
import type { EnvelopeKind } from '../../../shared/contracts/events/envelope.ts';
import type { EventIdentity } from '../../../shared/contracts/events/partition.ts';
import { isJsonObject } from '../../../shared/runtime/json.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import type { JsonWriter } from '../../../shared/json/json-writer.ts';
import type { MemberIndex } from '../../../shared/json/member-index.ts';
import { textCharactersMax } from '../../../shared/contracts/ingest/payload-fields.ts';
import type { TimeWindow } from '../../payload/time-window.ts';
import type { PlainMessage } from './plain-batch.ts';

/** When a request arrived, and the rules for its events. */
export type Arrival = {
  /** Ms since the epoch. */
  readonly atMs: number;
  readonly timeWindow: TimeWindow;
  /**
   * The time of sending by the sender's clock, from the query, in ms since the epoch; undefined if the query has none.
   */
  readonly sentAtMs?: number | undefined;
};

/** A message of another service's library, translated into our event. */
export type Translated = {
  readonly kind: EnvelopeKind;
  /** Undefined: the sender gave no id. */
  readonly id: string | undefined;
  readonly identity: EventIdentity;
  /** A track or identify payload. */
  readonly body: JsonObject;
};

/** Why a message is not a valid event: the field and its problem. */
export type Untranslatable = { readonly problem: string };

export type Translation = Translated | Untranslatable;

/** How a family of libraries writes a request. */
export type Dialect = {
  /** The source key in the body. */
  keyOf(body: JsonObject): unknown;
  /** The source key of the messages, used when header, body and query have none. */
  keyOfMessages?(messages: readonly unknown[]): unknown;
  /** A body may be a list of messages, or a form with a `data` field. */
  readonly takesListsAndForms?: true;
  /** The time of sending by the sender's clock, from the query of a request, in ms since the epoch. */
  sentAtOf?(query: string): number | undefined;
  /** The messages of a body; undefined if it has none. */
  messagesOf(body: JsonObject): readonly unknown[] | undefined;
  /** Translates a message of `body`. */
  translate(message: JsonObject, body: JsonObject, arrival: Arrival): Translation;
  /** Writes most messages of a batch without parsing them. If absent, all are parsed. */
  readonly writePlain?: WritePlain;
};

/** Input for writing plain messages. */
export type PlainSource = {
  readonly bytes: Buffer;
  readonly index: MemberIndex;
  /** The request without its messages. */
  readonly body: JsonObject;
  readonly arrival: Arrival;
  /** The head of each event: the range of written bytes before the event's id, and the bytes after the id. */
  readonly head: { readonly start: number; readonly end: number; readonly behindId: Uint8Array };
  /** The last written context, which messages with the same context reuse. */
  readonly context: WrittenContext;
};

/** Where the context written last stands: `out[start, end)`, or nothing yet. */
export type WrittenContext = { member: number; start: number; end: number };

/**
 * Writes from the message's bytes, after the event's head, the event that `translate` would return, and sets in the
 * message's row the fields that decide the partition. False if the message has to be parsed; the caller then discards
 * the written bytes.
 */
export type WritePlain = (message: PlainMessage, source: PlainSource, out: JsonWriter) => boolean;

const wholeNumber = /^\d{1,9}$/;

/**
 * The messages of a batch: a list, or an object whose members are numbered, which is how PHP writes a list with gaps.
 * Undefined for everything else.
 */
export function messagesIn(batch: unknown): readonly unknown[] | undefined {
  if (Array.isArray(batch)) return batch;
  if (!isJsonObject(batch)) return undefined;
  const names = Object.keys(batch);
  return names.length > 0 && names.every((name) => wholeNumber.test(name)) ? Object.values(batch) : undefined;
}

/** An identifier: text unchanged, or a number with its digits as sent. Undefined for other or empty values. */
export function readId(holder: JsonObject, name: string): string | undefined {
  const value = holder[name];
  if (typeof value === 'string') return value === '' ? undefined : value;
  return typeof value === 'number' ? (numberText(holder, name) ?? String(value)) : undefined;
}

/** An event's id. If it is too long, only its end is stored: ids usually differ at their ends. */
export function readEventId(holder: JsonObject, name: string): string | undefined {
  return readId(holder, name)?.slice(-textCharactersMax.distinctId);
}

/** The problem of a message's identifiers; undefined if they are valid. */
export function idProblem(names: Readonly<Record<string, string | undefined>>): string | undefined {
  for (const name in names) {
    if ((names[name]?.length ?? 0) > textCharactersMax.userId) {
      return `${name} must be a string of 1 to ${textCharactersMax.userId} characters`;
    }
  }
  return undefined;
}
