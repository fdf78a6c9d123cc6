import { Type } from 'typebox';
import type { TSchema, TProperties } from 'typebox';

// Field schemas shared by many scripted platforms.

/** Non-empty text. */
export const someText = Type.String({ minLength: 1 });

/** SHA-256 in lower-case hex. */
export const sha256Hex = Type.String({ pattern: '^[0-9a-f]{64}$' });

export const sha256List = Type.Array(sha256Hex, { minItems: 1 });

/** Seconds since the epoch. The maximum refuses values in ms. */
export const epochSeconds = Type.Integer({ minimum: 1_000_000_000, maximum: 9_999_999_999 });

/** Ms since the epoch. */
export const epochMs = Type.Integer({ minimum: 1_000_000_000_000, maximum: 9_999_999_999_999 });

/** An RFC 3339 timestamp. */
export const instant = Type.String({ pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$` });

/** ISO 4217 currency. */
export const currencyCode = Type.String({ pattern: '^[A-Z]{3}$' });

export const webAddress = Type.String({ pattern: '^https?://' });

export const uuidText = Type.String({ pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' });

export function oneOf(...words: readonly string[]): TSchema {
  return Type.Enum([...words]);
}

/** An object with optional members and no others, because a kind must not send members that the platform ignores. */
export function partly(properties: TProperties): TSchema {
  return Type.Partial(Type.Object(properties), { additionalProperties: false });
}

/** A list of rows, which are checked one by one. */
export const anyRows = Type.Array(Type.Unknown(), { minItems: 1 });

/**
 * A person under the short names that several advertising platforms share; each name holds a list of
 * hashes.
 */
export const hashedPerson = {
  em: sha256List,
  ph: sha256List,
  fn: sha256List,
  ln: sha256List,
  ge: sha256List,
  db: sha256List,
  ct: sha256List,
  st: sha256List,
  zp: sha256List,
  country: sha256List,
  external_id: sha256List,
} as const;
