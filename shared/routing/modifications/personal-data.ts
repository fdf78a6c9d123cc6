import { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { utcDay } from '../values/value-forms.ts';

/*
 * Personal data in the form that ad platforms require before hashing. Sources: Meta, Conversions API, "Customer
 * information parameters"
 * (https://developers.facebook.com/docs/marketing-api/conversions-api/parameters/customer-information-parameters);
 * Google Ads API, "Normalize and hash user-provided data". Undefined if the text is not such a value.
 */

const phoneCharactersMax = 100;
const dateCharactersMax = 40;

/** Text without surrounding space, in lower case: for e-mail addresses and names. */
export function normaliseText(text: string): string {
  return text.trim().toLowerCase();
}

/** Letters and digits only, in lower case, of any alphabet: `St. John's` is `stjohns`. */
export function normaliseLetters(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{M}\p{N}]/gu, '');
}

/**
 * Digits with the country code, E.164 without its plus: `(650) 555-1212` is `16505551212`. An extension and leading
 * zeros are dropped. A number without a country code is read as dialled in `country` (ISO 3166-1 alpha-2), if that is
 * known and the number is possible there. Otherwise a number of North American form gets that country code, and any
 * other stays unchanged; so numbers are best stored with their country code.
 */
export function normalisePhone(text: string, country?: string): string | undefined {
  if (text.length > phoneCharactersMax) return undefined;
  const national = country === undefined || /^[^\d]*(\+|00)/.test(text) ? undefined : nationalPhone(text, country);
  if (national !== undefined) return national;
  const [number = ''] = text.toLowerCase().split(/(?<=\d)\s*(?:[;,#x]|ext)/, 1);
  // The zero of `+49 (0)30 …` is dialled within the country only.
  const all = number.replace(/^(\s*\+.*)\(0\)/, '$1').replaceAll(/\D/g, '');
  const digits = all.replace(/^0+/, '');
  if (digits.length < 7 || digits.length > 15) return undefined;
  const hasPrefix = number.includes('+') || all.startsWith('0');
  return !hasPrefix && /^[2-9]\d{2}[2-9]\d{6}$/.test(digits) ? `1${digits}` : digits;
}

/** A number as dialled within its country, by the numbering plans of libphonenumber. */
function nationalPhone(text: string, country: string): string | undefined {
  const defaultCountry = country.toUpperCase();
  if (!isSupportedCountry(defaultCountry)) return undefined;
  const number = parsePhoneNumberFromString(text, { defaultCountry, extract: false });
  return number?.isPossible() === true ? number.number.slice(1) : undefined;
}

/**
 * A state of the USA by its code or name (`US-CA`, `California`) becomes its code, `ca`; other states become letters
 * and digits only.
 */
export function normaliseState(text: string): string {
  const letters = normaliseLetters(text.replace(/^\s*us-/i, ''));
  return usStateCode(letters) ?? letters;
}

/**
 * Lower case without spaces and dashes; only the first five digits of a US ZIP+4, and a UK postcode only up to its
 * sector.
 */
export function normaliseZip(text: string): string {
  const zip = text.toLowerCase().replaceAll(/[\s-]/g, '');
  if (/^\d{9}$/.test(zip)) return zip.slice(0, 5);
  return /^[a-z]{1,2}\d[a-z\d]?\d[a-z]{2}$/.test(zip) ? zip.slice(0, -2) : zip;
}

/** `f` or `m`, the two values that the platforms match. */
export function normaliseGender(text: string): string | undefined {
  const gender = normaliseText(text);
  if (['f', 'female', 'woman', 'girl'].includes(gender)) return 'f';
  return ['m', 'male', 'man', 'boy'].includes(gender) ? 'm' : undefined;
}

/**
 * YYYYMMDD from `1997-02-16` (a time of day may follow), `19970216`, `2/16/1997` (day first if the first number is
 * above 12), `16.02.1997`, or ms since the epoch (in UTC).
 */
export function normaliseDateOfBirth(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed.length > dateCharactersMax) return undefined;
  const yearFirst = /^(\d{4})([-/.]?)(\d{1,2})\2(\d{1,2})(?:[T\s].*)?$/.exec(trimmed);
  if (yearFirst !== null && (yearFirst[2] !== '' || /^\d{8}(\D|$)/.test(trimmed))) {
    const date = compactDate(Number(yearFirst[1]), Number(yearFirst[3]), Number(yearFirst[4]));
    if (date !== undefined) return date;
  }
  const yearLast = /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4})$/.exec(trimmed);
  if (yearLast !== null) {
    const [first, second, year] = [Number(yearLast[1]), Number(yearLast[3]), Number(yearLast[4])];
    const dayFirst = yearLast[2] === '.' || first > 12;
    return dayFirst ? compactDate(year, second, first) : compactDate(year, first, second);
  }
  return /^-?\d{9,13}$/.test(trimmed) ? dateOfMs(Number(trimmed)) : undefined;
}

function dateOfMs(ms: number): string | undefined {
  const date = new Date(ms);
  return compactDate(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate());
}

function compactDate(year: number, month: number, day: number): string | undefined {
  if (year < 1900 || year > 2100 || utcDay(year, month, day) === undefined) return undefined;
  return `${year}${String(month).padStart(2, '0')}${String(day).padStart(2, '0')}`;
}

/** The two-letter code, in lower case, of a state or territory of the USA by its name (letters only, lower case). */
export function usStateCode(name: string): string | undefined {
  return codeOfName.get(name);
}

// ANSI INCITS 38 (the two-letter codes of the postal service), with the name of each.
const states = `
  al alabama, ak alaska, az arizona, ar arkansas, ca california, co colorado, ct connecticut, de delaware,
  dc districtofcolumbia, dc washingtondc, fl florida, ga georgia, hi hawaii, id idaho, il illinois, in indiana, ia iowa,
  ks kansas, ky kentucky, la louisiana, me maine, md maryland, ma massachusetts, mi michigan, mn minnesota,
  ms mississippi, mo missouri, mt montana, ne nebraska, nv nevada, nh newhampshire, nj newjersey, nm newmexico,
  ny newyork, nc northcarolina, nd northdakota, oh ohio, ok oklahoma, or oregon, pa pennsylvania, ri rhodeisland,
  sc southcarolina, sd southdakota, tn tennessee, tx texas, ut utah, vt vermont, va virginia, wa washington,
  wv westvirginia, wi wisconsin, wy wyoming, as americansamoa, gu guam, mp northernmarianaislands, pr puertorico,
  vi virginislands, vi usvirginislands`;

const codeOfName: ReadonlyMap<string, string> = new Map(
  states.split(',').map((entry) => {
    const [code = '', name = ''] = entry.trim().split(' ');
    return [name, code];
  }),
);
