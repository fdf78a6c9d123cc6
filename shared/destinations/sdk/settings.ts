import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { isAllowedHeaderName, isHeaderValue } from './header-rules.ts';

/** A setting as the types endpoint describes it, with one of the specification's types. */
export type SettingDescriptor =
  | { readonly type: 'Alert'; readonly key: string; readonly label: string }
  | {
      readonly type: 'Select';
      readonly key: string;
      readonly label: string;
      readonly options: readonly SelectOption[];
      readonly sublabel: string | null;
      readonly required: boolean | null;
      readonly defaultValue: string | null;
    }
  | {
      readonly type: 'Switch';
      readonly key: string;
      readonly label: string;
      readonly required: boolean | null;
      readonly sublabel: string | null;
      readonly defaultValue: boolean | null;
    }
  | { readonly type: 'GenericOauth'; readonly key: string; readonly label: string; readonly sublabel: string | null }
  | {
      readonly type: 'Text' | 'Secret';
      readonly key: string;
      readonly label: string;
      readonly placeholder: string;
      readonly sublabel: string | null;
      readonly required: boolean | null;
    };

type SelectOption = { readonly label: string; readonly value: string };

/** A setting with an invalid value. */
export class SettingError extends Error {
  readonly code = 'setting_invalid';
  readonly key: string;
  constructor(key: string, problem: string) {
    super(`settings.${key} ${problem}`);
    this.key = key;
  }
}

/**
 * A setting of a destination kind: its description for the types endpoint, a made-up value for
 * documentation and tests, and the function that validates and reads a value.
 */
export type Setting<Value> = {
  describe(key: string): SettingDescriptor;
  /** Undefined if the example leaves the setting out. */
  example(): unknown;
  /** Throws SettingError naming the key. Null and empty values count as missing. */
  read(given: unknown, key: string): Value;
  /**
   * For a setting that determines where requests go: scheme, host and port of the value, or an
   * equivalent. When it changes, the operator must enter the destination's secrets again. Accepts
   * any value, including one that `read` refuses.
   */
  addressOf?(given: unknown): string;
  /** A warning about a valid value: one sentence; undefined if there is none. */
  warningOf?(given: unknown): string | undefined;
};

/** The settings of a kind by key, in display order. */
export type SettingDeclarations = Readonly<Record<string, Setting<unknown>>>;

/** The values returned by reading a kind's settings, by key. */
export type SettingsOf<Declarations extends SettingDeclarations> = {
  readonly [Key in keyof Declarations]: Declarations[Key] extends Setting<infer Value> ? Value : never;
};

export function describeSettings(declarations: SettingDeclarations): readonly SettingDescriptor[] {
  return Object.entries(declarations).map(([key, setting]) => setting.describe(key));
}

export function exampleOf(declarations: SettingDeclarations): JsonObject {
  const examples = Object.entries(declarations).map(([key, setting]) => [key, setting.example()] as const);
  return Object.fromEntries(examples.filter(([, example]) => example !== undefined));
}

/** Validates and reads every declared setting. Throws SettingError for the first invalid one. */
export function readSettings<Declarations extends SettingDeclarations>(
  declarations: Declarations,
  given: JsonObject,
): SettingsOf<Declarations> {
  const values = Object.entries(declarations).map(([key, setting]) => [key, setting.read(given[key], key)] as const);
  return Object.fromEntries(values) as SettingsOf<Declarations>;
}

/** The request targets by setting key, one for each setting declared as an address. */
export function readAddresses(declarations: SettingDeclarations, given: JsonObject): Readonly<Record<string, string>> {
  const addresses = Object.entries(declarations).map(
    ([key, setting]) => [key, setting.addressOf?.(given[key])] as const,
  );
  return Object.fromEntries(addresses.filter((entry): entry is readonly [string, string] => entry[1] !== undefined));
}

/** Warnings about valid settings. */
export function readWarnings(declarations: SettingDeclarations, given: JsonObject): readonly string[] {
  return Object.entries(declarations).flatMap(([key, setting]) => setting.warningOf?.(given[key]) ?? []);
}

/** Declares that a setting determines where requests go; `standard` is the default address. */
export function address<Value>(setting: Setting<Value>, standard = ''): Setting<Value> {
  return { ...setting, addressOf: (given) => placeOf(typeof given === 'string' && given !== '' ? given : standard) };
}

/** Scheme, host and port of a URL; any other text, such as the name of a region, stays unchanged. */
function placeOf(text: string): string {
  if (!URL.canParse(text)) return text;
  const { protocol, host } = new URL(text);
  return host === '' ? text : `${protocol}//${host}`;
}

type Parse<Value> = (text: string, key: string) => Value;

type TextDeclaration = {
  readonly label: string;
  readonly placeholder?: string;
  readonly sublabel?: string;
  readonly example?: string | (() => string);
};

/** A text setting, parsed by `parse` if it is given. */
export function optionalText(declared: TextDeclaration): Setting<string | undefined>;
export function optionalText<Value>(declared: TextDeclaration, parse: Parse<Value>): Setting<Value | undefined>;
export function optionalText(declared: TextDeclaration, parse: Parse<unknown> = asItIs): Setting<unknown> {
  return optional('Text', declared, parse);
}

export function requiredText(declared: TextDeclaration): Setting<string>;
export function requiredText<Value>(declared: TextDeclaration, parse: Parse<Value>): Setting<Value>;
export function requiredText(declared: TextDeclaration, parse: Parse<unknown> = asItIs): Setting<unknown> {
  return required('Text', declared, parse);
}

/** A text setting stored encrypted and read back masked. */
export function optionalSecret(declared: TextDeclaration): Setting<string | undefined>;
export function optionalSecret<Value>(declared: TextDeclaration, parse: Parse<Value>): Setting<Value | undefined>;
export function optionalSecret(declared: TextDeclaration, parse: Parse<unknown> = asItIs): Setting<unknown> {
  return optional('Secret', declared, parse);
}

export function requiredSecret(declared: TextDeclaration): Setting<string>;
export function requiredSecret<Value>(declared: TextDeclaration, parse: Parse<Value>): Setting<Value>;
export function requiredSecret(declared: TextDeclaration, parse: Parse<unknown> = asItIs): Setting<unknown> {
  return required('Secret', declared, parse);
}

/** A required secret that is sent in a header; whitespace from pasting is trimmed. */
export function token(declared: TextDeclaration): Setting<string> {
  return requiredSecret(declared, (text, key) => {
    const trimmed = text.trim();
    if (trimmed === '') throw new SettingError(key, 'is required');
    if (!isHeaderValue(trimmed)) throw new SettingError(key, 'must be one line of printable characters');
    return trimmed;
  });
}

/** One of several values, with a default. */
export function choice<Value extends string>(declared: {
  readonly label: string;
  readonly sublabel?: string;
  /** An option without a label is displayed as its value. */
  readonly options: readonly (Value | { readonly label: string; readonly value: Value })[];
  readonly fallback: Value;
  readonly example?: Value;
}): Setting<Value> {
  const options = declared.options.map((option) =>
    typeof option === 'string' ? { label: option, value: option } : option,
  );
  return {
    describe: (key) => ({
      type: 'Select',
      key,
      label: declared.label,
      options,
      sublabel: declared.sublabel ?? null,
      required: null,
      defaultValue: declared.fallback,
    }),
    example: () => declared.example,
    read(given, key) {
      const text = textOrNothing(given, key);
      if (text === undefined) return declared.fallback;
      const chosen = options.find(({ value }) => value === text);
      if (chosen !== undefined) return chosen.value;
      throw new SettingError(key, `must be one of ${options.map(({ value }) => value).join(', ')}`);
    },
  };
}

/** A boolean; false if the setting is missing. */
export function toggle(declared: { readonly label: string; readonly sublabel: string }): Setting<boolean> {
  return {
    describe: (key) => ({ type: 'Switch', key, ...declared, required: null, defaultValue: false }),
    example: () => false,
    read: (given) => given === true,
  };
}

/** The platform's maximum of events per request, and the default. */
export type BatchLimits = { readonly max: number; readonly fallback: number; readonly sublabel?: string };

/** A setting for the events per request: a whole number, given as text or number. */
export function batchSize({ max, fallback, sublabel }: BatchLimits): Setting<number> {
  return {
    describe: (key) => ({
      type: 'Text',
      key,
      label: 'Batch size',
      placeholder: String(fallback),
      sublabel: sublabel ?? `Maximum events in a request, 1 to ${max}.`,
      required: null,
    }),
    example: () => String(fallback),
    read(given, key) {
      const text = typeof given === 'number' ? String(given) : textOrNothing(given, key);
      if (text === undefined) return fallback;
      const count = Number(text);
      if (!/^\d+$/.test(text.trim()) || count < 1 || count > max) {
        throw new SettingError(key, `must be a whole number from 1 to ${max}`);
      }
      return count;
    },
  };
}

/**
 * An address to use instead of the platform's own, such as a regional address, a proxy or a test
 * server. Read without a trailing slash.
 */
export function optionalBaseUrl(standard: string): Setting<string | undefined> {
  const declared = {
    label: 'Base URL',
    placeholder: standard,
    sublabel: `Only needed if requests go to another address than ${standard}.`,
  };
  return address(optionalText(declared, readBaseUrl));
}

/** A base URL whose default is the platform's own address. */
export function baseUrl(standard: string): Setting<string> {
  const setting = address(optionalBaseUrl(standard), standard);
  return { ...setting, read: (given, key) => setting.read(given, key) ?? standard };
}

/** An absolute http or https address without a trailing slash. Throws SettingError. */
export function readBaseUrl(text: string, key: string): string {
  return readWebUrl(text, key).replace(/\/+$/, '');
}

/** A region in which a platform stores data, and the platform's address for the region. */
export type Region = { readonly value: string; readonly label: string; readonly url: string };

/** A platform's regions; the first is the default. */
export type Regions = readonly [Region, ...Region[]];

/** The region where the platform stores the data. */
export function region(regions: Regions): Setting<Region> {
  const chosen = choice({
    label: 'Region',
    options: regions.map(({ value, label }) => ({ label, value })),
    sublabel: 'The region of your project.',
    fallback: regions[0].value,
    example: (regions[1] ?? regions[0]).value,
  });
  return {
    describe: (key) => chosen.describe(key),
    example: () => chosen.example(),
    read(given, key) {
      const value = chosen.read(given, key);
      return regions.find((candidate) => candidate.value === value) ?? regions[0];
    },
    addressOf: (given) => placeOf((regions.find(({ value }) => value === given) ?? regions[0]).url),
  };
}

/** Headers to add to every request. */
export function headerSetting(declared: TextDeclaration): Setting<Readonly<Record<string, string>>> {
  return { ...optional('Secret', declared, asItIs), read: readHeaders };
}

/** Text that matches a pattern. */
export function matching(pattern: RegExp, problem: string): Parse<string> {
  return (text, key) => {
    if (!pattern.test(text)) throw new SettingError(key, problem);
    return text;
  };
}

const urlCharactersMax = 2_048;

/**
 * Validates a URL that a user entered: absolute, http or https, without credentials. Returns its
 * normal form without a fragment.
 */
export function readWebUrl(text: string, key: string): string {
  if (text.length > urlCharactersMax) throw new SettingError(key, `must have at most ${urlCharactersMax} characters`);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new SettingError(key, 'must be an absolute http or https URL');
  }
  if (url.username !== '' || url.password !== '')
    throw new SettingError(key, 'must not contain a user name or password');
  url.hash = '';
  return url.href;
}

const headersMax = 50;

/** Reads a JSON object of header strings. Returns names in lower case. */
function readHeaders(value: unknown, key: string): Readonly<Record<string, string>> {
  if (value === undefined || value === null || value === '') return {};
  const given = typeof value === 'string' ? parseJson(value, key) : value;
  if (!isJsonObject(given)) throw new SettingError(key, 'must be a JSON object of strings');
  const headers: Record<string, string> = {};
  for (const [name, text] of Object.entries(given)) {
    if (!isAllowedHeaderName(name)) throw new SettingError(key, 'contains a reserved or invalid header name');
    if (typeof text !== 'string' || !isHeaderValue(text)) {
      throw new SettingError(key, 'must contain strings that fit in a header, without line breaks');
    }
    headers[name.toLowerCase()] = text;
  }
  if (Object.keys(headers).length > headersMax) throw new SettingError(key, `must have at most ${headersMax} headers`);
  return headers;
}

function parseJson(text: string, key: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SettingError(key, 'must be a JSON object of strings');
  }
}

function optional<Value>(
  type: 'Text' | 'Secret',
  declared: TextDeclaration,
  parse: Parse<Value>,
): Setting<Value | undefined> {
  return {
    ...described(type, declared, null),
    read(given, key) {
      const text = textOrNothing(given, key);
      return text === undefined ? undefined : parse(text, key);
    },
  };
}

function required<Value>(type: 'Text' | 'Secret', declared: TextDeclaration, parse: Parse<Value>): Setting<Value> {
  return {
    ...described(type, declared, true),
    read(given, key) {
      const text = textOrNothing(given, key);
      if (text === undefined) throw new SettingError(key, 'is required');
      return parse(text, key);
    },
  };
}

function described(
  type: 'Text' | 'Secret',
  {
    label,
    placeholder = '',
    sublabel = null,
    example,
  }: Omit<TextDeclaration, 'sublabel'> & { sublabel?: string | null },
  isRequired: true | null,
): Pick<Setting<unknown>, 'describe' | 'example'> {
  return {
    describe: (key) => ({ type, key, label, placeholder, sublabel, required: isRequired }),
    example: () => (typeof example === 'function' ? example() : example),
  };
}

function textOrNothing(given: unknown, key: string): string | undefined {
  if (given === undefined || given === null || given === '') return undefined;
  if (typeof given !== 'string') throw new SettingError(key, 'must be text');
  return given;
}

function asItIs(text: string): string {
  return text;
}
