import { isJsonObject } from '../../runtime/json.ts';
import { consentStringCharactersMax } from './tc-string.ts';

/**
 * Whether the visitor allows a category of a consent platform, compared without case; undefined if it is not listed.
 */
export type Categories = (name: string) => boolean | undefined;

/**
 * The categories of OneTrust: the cookie `OptanonConsent` (URL-encoded pairs with `groups=C0001:1,C0002:0`), or the
 * page's `OptanonActiveGroups` (`,C0001,C0003,`), which lists the allowed categories: all others are denied. Throws
 * RangeError for anything else.
 */
export function readOneTrust(value: unknown): Categories {
  const text = textOf(value);
  if (!text.includes('=')) {
    const active = text.split(',').filter((group) => group !== '');
    if (active.length === 0 || active.some((group) => !/^[\w-]{1,64}$/.test(group))) throw unknownForm();
    const allowed = new Set(active.map((group) => group.toLowerCase()));
    return (name) => allowed.has(name.toLowerCase());
  }
  const groups = new URLSearchParams(text).get('groups');
  const entries = (groups ?? '').split(',').map((entry) => /^([\w-]{1,64}):([01])$/.exec(entry));
  return toCategories(
    entries.map((entry) => {
      if (entry === null) throw unknownForm();
      return [entry[1] ?? '', entry[2] === '1'];
    }),
  );
}

/**
 * The categories of Cookiebot's cookie `CookieConsent`, which has keys without quotes. `-1`: the visitor is outside of
 * the regions where it asks; `0`: only necessary cookies are allowed. Throws RangeError for anything else.
 */
export function readCookiebot(value: unknown): Categories {
  const text = decoded(textOf(value));
  if (text === '-1') return () => undefined;
  if (text === '0') return toCategories(cookiebotCategories.map((name) => [name, name === 'necessary']));
  const found = [...text.matchAll(/\b(necessary|preferences|statistics|marketing):(true|false)\b/g)];
  if (!text.startsWith('{') || found.length === 0) throw unknownForm();
  return toCategories(found.map(([, name = '', word]) => [name, word === 'true']));
}

const cookiebotCategories = ['necessary', 'preferences', 'statistics', 'marketing'];

/**
 * The purposes of Didomi's cookie `didomi_token`: base64 of JSON with lists of ids. Throws RangeError for any other
 * value.
 */
export function readDidomi(value: unknown): Categories {
  const token = parsed(Buffer.from(decoded(textOf(value)), 'base64').toString('utf8'));
  const purposes = isJsonObject(token) ? token['purposes'] : undefined;
  if (!isJsonObject(purposes)) throw unknownForm();
  const listed = (name: string, word: boolean): [string, boolean][] => {
    const ids = purposes[name];
    return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string').map((id) => [id, word]) : [];
  };
  return toCategories([...listed('enabled', true), ...listed('disabled', false)]);
}

const unknownForm = (): RangeError => new RangeError('not the cookie of a consent platform');

function textOf(value: unknown): string {
  if (typeof value !== 'string' || value.length > consentStringCharactersMax) throw unknownForm();
  return value;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw unknownForm();
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    throw unknownForm();
  }
}

/** A denial wins over another decision on the same category. */
function toCategories(entries: readonly (readonly [string, boolean])[]): Categories {
  const categories = new Map<string, boolean>();
  for (const [name, word] of entries) {
    const key = name.toLowerCase();
    categories.set(key, categories.get(key) !== false && word);
  }
  return (name) => categories.get(name.toLowerCase());
}
