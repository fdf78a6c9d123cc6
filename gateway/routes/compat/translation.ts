import type { EnvelopeKind } from '../../../shared/contracts/events/envelope.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import { textCharactersMax } from '../../payload/payload-fields.ts';
import type { Identity } from '../../ingest/intake.ts';
import type { TimeWindow } from '../../payload/payload-fields.ts';

/** When and by what rules a request came in. */
export type Arrival = {
  /** Since the epoch. */
  readonly atMs: number;
  readonly timeWindow: TimeWindow;
};

/** A message of another family of libraries as an event of ours. */
export type Translated = {
  readonly kind: EnvelopeKind;
  /** Undefined: the sender gave it none. */
  readonly id: string | undefined;
  readonly identity: Identity;
  /** A track or identify payload. */
  readonly body: JsonObject;
};

/** Why a message is no event: the field and what is wrong with it. */
export type Untranslatable = { readonly problem: string };

export type Translation = Translated | Untranslatable;

/** How a family of libraries writes a request. */
export type Dialect = {
  /** The source key as the body has it. */
  keyOf(body: JsonObject): unknown;
  /** The messages of a body; undefined where it has none that can be found. */
  messagesOf(body: JsonObject): readonly unknown[] | undefined;
  /** Says what to do about one of them; `body` is what it came in. */
  translate(message: JsonObject, body: JsonObject, arrival: Arrival): Translation;
};

/** An identifier of an event: text as it is, a number as text; what is empty or something else is none. */
export function readId(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  return typeof value === 'number' ? String(value) : undefined;
}

/** What is wrong with the identifiers of a message; undefined when nothing is. */
export function idProblem(names: Readonly<Record<string, string | undefined>>): string | undefined {
  for (const name in names) {
    if ((names[name]?.length ?? 0) > textCharactersMax.userId) {
      return `${name} must be a string of 1 to ${textCharactersMax.userId} characters`;
    }
  }
  return undefined;
}
