import { isJsonObject } from '../../runtime/json.ts';

/**
 * Decisions by the lower-case name of a purpose or the id of a category: true allows, false denies. Names that begin
 * with `$` describe where the decisions came from, see `consentMarks`.
 */
export type ConsentWords = Readonly<Record<string, boolean>>;

/** Names in `ConsentWords` that mark where the decisions came from. No purpose has such a name. */
export const consentMarks = {
  /** Segment's categoryPreferences: a category that they do not name is denied. */
  segment: '$segment',
  /** RudderStack's consentManagement. */
  rudderstack: '$rudderstack',
  /** RudderStack's resolutionStrategy `or`: it is enough that one purpose of a destination is granted. */
  any: '$any',
  /** The Global Privacy Control signal of the browser. */
  gpc: '$gpc',
} as const;

/** Opt-outs of the Global Privacy Platform's sections for the USA. */
export const gppOptOuts = ['saleOptOut', 'sharingOptOut', 'targetedAdvertisingOptOut'] as const;
export type GppOptOut = (typeof gppOptOuts)[number];

/** Google's consent types that platforms receive, https://support.google.com/analytics/answer/12334711. */
export const googleConsentTypes = ['ad_storage', 'ad_user_data', 'ad_personalization'] as const;
export type GoogleConsentType = (typeof googleConsentTypes)[number];

/** The visitor's decision for each consent type. */
export type ConsentMode = Readonly<Partial<Record<GoogleConsentType, 'GRANTED' | 'DENIED'>>>;

/** The purpose that a name in a consent stands for, in whatever spelling. */
export const purposeOf = (name: string): string => name.trim().toLowerCase();

/** The decisions, and the number of unreadable values. */
export type ReadConsent = { readonly words: Record<string, boolean>; readonly unreadable: number };

/** Maximum numbers of names that are read, counted apart so that no number of grants hides a denial. */
const namesMax = { granted: 200, denied: 1_000 };
const nameCharactersMax = 250;
const texts: ReadonlyMap<string, boolean> = new Map([
  ['granted', true],
  ['denied', false],
]);

/**
 * Reads a `consent` object: names with booleans or `granted` and `denied`, and the lists `accepted_categories` and
 * `rejected_categories`. Null, absent and `""` mean no decision; if a name is both granted and denied, the denial wins.
 */
export function readConsentWords(consent: unknown): ReadConsent {
  const read = { words: {} as Record<string, boolean>, unreadable: 0 };
  if (consent === undefined || consent === null || consent === '') return read;
  if (!isJsonObject(consent)) return { words: {}, unreadable: 1 };
  const rest = { ...namesMax };
  for (const [name, value] of Object.entries(consent)) {
    if (value === undefined || value === null || value === '') continue;
    if (name === 'accepted_categories' || name === 'rejected_categories') {
      addList(read, value, name === 'accepted_categories');
    } else {
      const word = typeof value === 'string' ? texts.get(value.toLowerCase()) : value;
      if ((rest[word === false ? 'denied' : 'granted'] -= 1) < 0) continue;
      if (typeof word === 'boolean') addWord(read.words, name, word);
      else read.unreadable += 1;
    }
  }
  return read;
}

/** Whether a visitor's stored consent has the Global Privacy Control signal of the browser. */
export function hasGpcSignal(consent: unknown): boolean {
  return isJsonObject(consent) && consent[consentMarks.gpc] === true;
}

/** What a visitor's stored consent denies: purposes, and `$gpc` for the Global Privacy Control signal. */
export function deniedIn(consent: unknown): readonly string[] {
  const words = Object.entries(readConsentWords(consent).words);
  const denied = words.flatMap(([name, word]) => (word ? [] : [name]));
  return hasGpcSignal(consent) ? [...denied, consentMarks.gpc] : denied;
}

/**
 * Reads the consent that an event states: in our `consent` object, Segment's `context.consent` or RudderStack's
 * `context.consentManagement`. The words are empty if there is none.
 */
export function readOwnConsent(consent: unknown): ReadConsent {
  if (!isJsonObject(consent)) return readConsentWords(consent);
  const { categoryPreferences, allowedConsentIds, deniedConsentIds, resolutionStrategy } = consent;
  if (isJsonObject(categoryPreferences)) {
    const read = readConsentWords(categoryPreferences);
    read.words[consentMarks.segment] = true;
    return read;
  }
  if (!Array.isArray(allowedConsentIds) && !Array.isArray(deniedConsentIds)) return readConsentWords(consent);
  const read = { words: {} as Record<string, boolean>, unreadable: 0 };
  addList(read, allowedConsentIds ?? [], true);
  addList(read, deniedConsentIds ?? [], false);
  if (Object.keys(read.words).length === 0) return read;
  read.words[consentMarks.rudderstack] = true;
  if (resolutionStrategy === 'or') read.words[consentMarks.any] = true;
  return read;
}

function addList(read: { readonly words: Record<string, boolean>; unreadable: number }, list: unknown, word: boolean) {
  if (!Array.isArray(list)) {
    read.unreadable += 1;
    return;
  }
  for (const name of list.slice(0, word ? namesMax.granted : namesMax.denied) as readonly unknown[]) {
    if (typeof name === 'string') addWord(read.words, name, word);
    else read.unreadable += 1;
  }
}

function addWord(words: Record<string, boolean>, name: string, word: boolean): void {
  const key = purposeOf(name);
  if (key === '' || key.length > nameCharactersMax || key.startsWith('$') || key === '__proto__') return;
  words[key] = words[key] !== false && word;
}
