import { Type } from 'typebox';
import type { TBoolean, TInteger, TOptional, TSchema, TString } from 'typebox';

/** Unit of a variable's number. A variable without a unit counts what its name says. */
export type Unit = 'ms' | 's' | 'bytes' | 'MiB' | '%';

type Limits = { readonly unit?: Unit; readonly minimum?: number; readonly maximum?: number };
/** Values of the variables that are set, by name, as text. */
type GivenVariables = Readonly<Record<string, string>>;

/** Rules of a variable that a schema cannot express. */
export type VariableRules = {
  /** The variable that must be set for this variable to have an effect. */
  readonly needs?: string;
  /** Names of variables of which at most one may be set, including this one. */
  readonly alternatives?: readonly string[];
  /** The problems of a value, such as `must be JSON`. Each continues a sentence that the variable's name begins. */
  readonly problems?: (value: string, given: GivenVariables) => readonly string[];
  /** Advice for the operator if this variable is required and missing. */
  readonly whenMissing?: string;
};

type TextRules = VariableRules & {
  readonly default?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  /** The pattern in words for messages, such as `32 bytes in base64`. */
  readonly mustBe?: string;
};

// The kinds of variables that an environment declares. Meaning, unit and secrecy are data for the page of all settings.

/** A whole number, at least 1 unless `limits` say otherwise. */
export const count = (meaning: string, byDefault: number, limits: Limits = {}): TInteger =>
  Type.Integer({ minimum: 1, ...limits, default: byDefault, description: meaning });

/** A whole number with the default `usually`; `orElse` describes in words when another default applies, and which. */
export const derivedCount = (
  meaning: string,
  { usually, orElse }: { readonly usually: number; readonly orElse: string },
  limits: Limits & Pick<VariableRules, 'problems'> = {},
): TOptional<TInteger> => Type.Optional(Type.Integer({ minimum: 1, ...limits, usually, orElse, description: meaning }));

/** A whole number whose default is computed for the machine; `rule` describes the computation. */
export const fittedCount = (meaning: string, rule: string, limits: Limits = {}): TOptional<TInteger> =>
  Type.Optional(Type.Integer({ minimum: 1, ...limits, rule, description: meaning }));

/** The default of a variable; undefined if its declaration has none. */
export function usualValueOf(variable: TSchema): string | number | boolean | undefined {
  const { default: byDefault, usually }: { readonly default?: unknown; readonly usually?: unknown } = variable;
  const value = byDefault ?? usually;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}

/** A TCP port; 0 chooses a free port. */
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

/** Required secret text. It should come from a file that only the service can read, which `NAME_FILE` names. */
export const secret = (meaning: string, rules: TextRules = {}): TString =>
  Type.String({ minLength: 1, ...rules, description: meaning, isSecret: true });

export const optionalSecret = (meaning: string, rules: TextRules = {}): TOptional<TString> =>
  Type.Optional(secret(meaning, rules));
