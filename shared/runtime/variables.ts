import { Type } from 'typebox';
import type { TBoolean, TInteger, TOptional, TSchema, TString } from 'typebox';

/** Unit of a variable's number. Without one its name implies the unit. */
export type Unit = 'ms' | 's' | 'bytes' | 'MiB' | '%';

type Limits = { readonly unit?: Unit; readonly minimum?: number; readonly maximum?: number };
/** Variables that are set, by name, before they are converted. */
type GivenVariables = Readonly<Record<string, string>>;

/** Rules of a variable that a schema cannot say. */
export type VariableRules = {
  /** The variable without which this one does nothing. */
  readonly needs?: string;
  /** Variables of which one at most is set, this one included. */
  readonly alternatives?: readonly string[];
  /** The problems of a value, each as the rest of a sentence that begins with the variable's name: `must be JSON`. */
  readonly problems?: (value: string, given: GivenVariables) => readonly string[];
  /** What the operator does where a required variable is missing. */
  readonly whenMissing?: string;
};

type TextRules = VariableRules & {
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

/** A whole number whose default is `usually`; `orElse` says in words when it is another. */
export const derivedCount = (
  meaning: string,
  { usually, orElse }: { readonly usually: number; readonly orElse: string },
  limits: Limits = {},
): TOptional<TInteger> => Type.Optional(Type.Integer({ minimum: 1, ...limits, usually, orElse, description: meaning }));

/** A whole number whose default is computed for the machine; `rule` says in words how. */
export const fittedCount = (meaning: string, rule: string, limits: Limits = {}): TOptional<TInteger> =>
  Type.Optional(Type.Integer({ minimum: 1, ...limits, rule, description: meaning }));

/** The default of a variable, where its declaration has one. */
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

/** Secret text. It should come from a file that only the service can read: `NAME_FILE`. */
export const secret = (meaning: string, rules: TextRules = {}): TString =>
  Type.String({ minLength: 1, ...rules, description: meaning, isSecret: true });

export const optionalSecret = (meaning: string, rules: TextRules = {}): TOptional<TString> =>
  Type.Optional(secret(meaning, rules));
