import { Type } from 'typebox';
import type { TBoolean, TInteger, TOptional, TSchema, TString } from 'typebox';

/** Unit of a variable's number. Without one its name implies the unit. */
export type Unit = 'ms' | 's' | 'bytes' | 'MiB' | '%';

type Limits = { readonly unit?: Unit; readonly minimum?: number; readonly maximum?: number };
type TextRules = {
  readonly default?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  /** The pattern in words, for messages: `32 bytes in base64`. */
  readonly mustBe?: string;
};

// How an environment declares its variables. Meaning, unit and secrecy are data: the page of all settings is made from them.

/** A whole number, at least 1 unless `limits` say otherwise. */
export const count = (meaning: string, byDefault: number, limits: Limits = {}): TInteger =>
  Type.Integer({ minimum: 1, ...limits, default: byDefault, description: meaning });

/** A whole number that, where it is not given, is `usually` this, and otherwise what `orElse` says in words. */
export const derivedCount = (
  meaning: string,
  { usually, orElse }: { readonly usually: number; readonly orElse: string },
  limits: Limits = {},
): TOptional<TInteger> => Type.Optional(Type.Integer({ minimum: 1, ...limits, usually, orElse, description: meaning }));

/** A whole number that, where it is not given, is made for the machine; `rule` says in words how. */
export const fittedCount = (meaning: string, rule: string, limits: Limits = {}): TOptional<TInteger> =>
  Type.Optional(Type.Integer({ minimum: 1, ...limits, rule, description: meaning }));

/** What a variable is that is not given, as far as its declaration says it. */
export function usualValueOf(variable: TSchema): string | number | boolean | undefined {
  const { default: byDefault, usually }: { readonly default?: unknown; readonly usually?: unknown } = variable;
  const value = byDefault ?? usually;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}

/** A TCP port; 0 takes a free one. */
export const port = (meaning: string, byDefault: number): TInteger =>
  Type.Integer({ minimum: 0, maximum: 65_535, default: byDefault, description: meaning });

export const flag = (meaning: string, byDefault: boolean): TBoolean =>
  Type.Boolean({ default: byDefault, description: meaning });

/** Text that is required unless `rules` give a default; empty text counts as absent. */
export const text = (meaning: string, rules: TextRules = {}): TString =>
  Type.String({ minLength: 1, ...rules, description: meaning });

/** Text that may be absent. */
export const optionalText = (meaning: string, rules: TextRules = {}): TOptional<TString> =>
  Type.Optional(text(meaning, rules));

/** Text that belongs into a file only its service may read: `NAME_FILE`. */
export const secret = (meaning: string, rules: TextRules = {}): TString =>
  Type.String({ minLength: 1, ...rules, description: meaning, isSecret: true });

export const optionalSecret = (meaning: string, rules: TextRules = {}): TOptional<TString> =>
  Type.Optional(secret(meaning, rules));
