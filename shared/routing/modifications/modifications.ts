import { dmaIp, fakeIp, regionalIp } from './addresses.ts';
import { countryCode } from './countries.ts';
import type { ChangeText } from './digests.ts';
import { hashed, hashedAs, md5, sha256 } from './digests.ts';
import {
  normaliseDateOfBirth,
  normaliseGender,
  normaliseLetters,
  normalisePhone,
  normaliseState,
  normaliseText,
  normaliseZip,
} from './personal-data.ts';
import { domainOnly, domainPathOnly, domainPathUtms, domainUtms, fakeDomain, fakeDomainRealPath } from './urls.ts';
import { numberText } from '../../json/exact-numbers.ts';
import { PlanError } from '../values/plan-error.ts';
import { textForm } from '../values/value-forms.ts';

/**
 * Changes a mapped value; undefined leaves the property out. It accepts every value, and gives the same result for the
 * same value and salt (Encrypted does not). `digits`: the exact digits of a number, if they are
 * known.
 */
export type Modify = (value: unknown, digits?: string) => unknown;
type Encrypt = (value: unknown, digits?: string) => string;

type Hiding = { readonly salt: string; readonly encrypt: Encrypt | undefined };

type Modification = {
  /** One sentence for the documentation. */
  readonly summary: string;
  change(value: unknown, hiding: Hiding, digits: string | undefined): unknown;
};

/**
 * Every modification. A missing value stays missing and null stays null, except with Null. A modification changes each
 * item of a list; Null, Redacted and Encrypted change the list as a whole, which hides its length. Modifications that
 * hash, shorten or invent leave out a value that they cannot change, so that no value of an unexpected form is sent in
 * the clear. Modifications of case send such a value unchanged.
 */
export const modifications = {
  None: { summary: 'Sends the value as it is.', change: (value) => value },
  Null: { summary: 'Sends null, whatever the value.', change: () => null },
  Redacted: { summary: 'Sends the text REDACTED in place of the value.', change: redact },
  Encrypted: {
    summary: "The value encrypted for the destination's encryption key; only the holder of the private key reads it.",
    change: (value, { encrypt }, digits) => (value === undefined || value === null ? value : encrypt?.(value, digits)),
  },
  Hash: disguising('SHA-256 of the value as it is, in lower-case hex.', hashed(sha256)),
  HashMD5: disguising('MD5 of the value as it is, in lower-case hex.', hashed(md5)),
  HashedNormalized: disguising('SHA-256 of the value trimmed, in lower case.', hashedAs(normaliseText)),
  HashedNormalizedNoSpecialChars: disguising('SHA-256 of its letters and digits alone.', hashedAs(normaliseLetters)),
  HashedPhone: disguising('SHA-256 of a phone number: digits with the country code.', hashedAs(normalisePhone)),
  HashedCountry: disguising('SHA-256 of the two-letter country code in lower case.', hashedAs(countryCode)),
  HashedState: disguising(
    'SHA-256 of a state: two-letter code in the USA, letters elsewhere.',
    hashedAs(normaliseState),
  ),
  HashedZip: disguising('SHA-256 of a postal code without spaces and dashes.', hashedAs(normaliseZip)),
  HashedGender: disguising('SHA-256 of f or m.', hashedAs(normaliseGender)),
  HashedDateOfBirth: disguising('SHA-256 of a date of birth as YYYYMMDD.', hashedAs(normaliseDateOfBirth)),
  FullUrl: disguising('The whole URL, query and fragment included.', (text) => text),
  DomainOnly: disguising('The URL cut after its host.', domainOnly),
  DomainPathOnly: disguising('The URL without query and fragment.', domainPathOnly),
  DomainPathUTMs: disguising('The URL with no parameters but utm_*.', domainPathUtms),
  DomainUTMs: disguising('The URL without its path, with no parameters but utm_*.', domainUtms),
  FakeDomain: disguising('An invented domain, the same for the same host.', fakeDomain),
  FakeDomainRealPath: disguising('An invented domain before the real path.', fakeDomainRealPath),
  FakeIP: disguising('An invented IP address, the same for the same address.', fakeIp),
  RegionalIP: disguising('The IP address cut to its network (24 bits of IPv4, 48 of IPv6).', regionalIp),
  DmaIP: disguising('The IP address cut to a market area (16 bits of IPv4, 32 of IPv6).', dmaIp),
  CamelCase: recasing('camelCase.', camelCase),
  KebabCase: recasing('kebab-case.', kebabCase),
  SnakeCase: recasing('snake_case.', snakeCase),
  StartCase: recasing('Start Case.', startCase),
  LowerCase: recasing('lower case.', (text) => text.toLowerCase()),
  UpperCase: recasing('UPPER CASE.', (text) => text.toUpperCase()),
} as const satisfies Readonly<Record<string, Modification>>;

export type ModificationName = keyof typeof modifications;

export const modificationNames = Object.keys(modifications) as readonly ModificationName[];

/**
 * The function of a modification; null or undefined means None. Every hash, and every value derived from a hash, covers
 * the destination's salt and the text. Throws PlanError with the field for an unknown name, and for Encrypted without a
 * key.
 */
export function compileModification(name: unknown, salt: string, field: string, encrypt?: Encrypt): Modify {
  if (name === null || name === undefined) return modifications.None.change;
  if (!isModificationName(name)) throw new PlanError(field, 'must be the name of a modification');
  if (name === 'Encrypted' && encrypt === undefined) {
    throw new PlanError(field, 'is Encrypted, which needs the setting encryptionKey of the destination');
  }
  const { change }: Modification = modifications[name];
  return (value, digits) => change(value, { salt, encrypt }, digits);
}

function isModificationName(name: unknown): name is ModificationName {
  return typeof name === 'string' && Object.hasOwn(modifications, name);
}

function redact(value: unknown): unknown {
  return value === undefined || value === null ? value : 'REDACTED';
}

/** Numbers and booleans are changed as text; any other value that is not text is left out. */
function disguising(summary: string, change: ChangeText): Modification {
  const changeItem =
    (salt: string): Modify =>
    (item, digits) => {
      if (item === null) return null;
      const text = digits !== undefined && isRounded(digits) ? digits : textForm(item);
      return text === undefined ? undefined : change(text, salt);
    };
  return { summary, change: (value, { salt }, digits) => changeEach(value, changeItem(salt), digits) };
}

/**
 * Whether a double has other digits than a number's text. `1.0` and `4.9e11` are not rounded: as `1` and `490000000000`
 * they have the same hash as from other senders.
 */
function isRounded(digits: string): boolean {
  const significant = (text: string): string =>
    text
      .replace(/e.*$/i, '')
      .replaceAll(/\D/g, '')
      .replaceAll(/^0+|0+$/g, '');
  return significant(digits) !== significant(String(Number(digits)));
}

/** A value that is not text stays unchanged. */
function recasing(example: string, change: (text: string) => string): Modification {
  const recase = (item: unknown): unknown => (typeof item === 'string' ? change(item) : item);
  return { summary: `Writes text in ${example}`, change: (value) => changeEach(value, recase) };
}

/** A list without remaining items is left out. */
function changeEach(value: unknown, change: Modify, digits?: string): unknown {
  if (!Array.isArray(value)) return change(value, digits);
  const changed = value
    .map((item, index) => change(item, numberText(value, String(index))))
    .filter((item) => item !== undefined);
  return changed.length === 0 && value.length > 0 ? undefined : changed;
}

/** `Sign up: free-trial` → `signUpFreeTrial` */
export function camelCase(text: string): string {
  return wordsOf(text)
    .map((word, index) => (index === 0 ? word.toLowerCase() : capitalised(word.toLowerCase())))
    .join('');
}

/** `Sign up: free-trial` → `sign-up-free-trial` */
export function kebabCase(text: string): string {
  return lowered(text).join('-');
}

/** `Sign up: free-trial` → `sign_up_free_trial` */
export function snakeCase(text: string): string {
  return lowered(text).join('_');
}

/** `sign up: free-trial` → `Sign Up Free Trial`; a word in capitals is kept. */
export function startCase(text: string): string {
  return wordsOf(text).map(capitalised).join(' ');
}

/**
 * Words as lodash splits them: at anything but letters and digits, within `aB`, before the last capital of `ABc`, and
 * around digits. Apostrophes are ignored.
 */
function wordsOf(text: string): readonly string[] {
  return text.replaceAll(/['\u2019]/g, '').match(words) ?? [];
}

const words = /\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+|\p{Lu}+|[\p{Lo}\p{Lm}\p{Lt}\p{M}]+|\p{N}+/gu;

function lowered(text: string): readonly string[] {
  return wordsOf(text).map((word) => word.toLowerCase());
}

function capitalised(word: string): string {
  const [first = '', ...rest] = word;
  return first.toUpperCase() + rest.join('');
}
