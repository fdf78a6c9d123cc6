import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readConsentWords, readOwnConsent } from './consent-words.ts';

test.each<[unknown, Record<string, boolean>, number]>([
  [undefined, {}, 0],
  [null, {}, 0],
  [{}, {}, 0],
  ['yes', {}, 1],
  [
    { Ads: true, stats: false, more: 'GRANTED', less: 'denied', none: null, empty: '' },
    { ads: true, stats: false, more: true, less: false },
    0,
  ],
  [{ ads: 1, stats: { deep: true } }, {}, 2],
  [{ accepted_categories: ['a', 'b'], rejected_categories: ['b', 7] }, { a: true, b: false }, 1],
  [{ accepted_categories: 'a' }, {}, 1],
  [{ Ads: true, ads: false }, { ads: false }, 0],
  [{ $gpc: true, ' ': true, ['x'.repeat(251)]: true }, {}, 0],
])('consent words: %j is read', (consent, words, unreadable) => {
  expect(readConsentWords(consent)).toEqual({ words, unreadable });
});

test.each<[unknown, Record<string, boolean>]>([
  [{ categoryPreferences: { C1: true, C2: false } }, { $segment: true, c1: true, c2: false }],
  [{ categoryPreferences: {} }, { $segment: true }],
  [
    { allowedConsentIds: ['a'], deniedConsentIds: ['b'], provider: 'ketch' },
    { $rudderstack: true, a: true, b: false },
  ],
  [
    { deniedConsentIds: ['b'], resolutionStrategy: 'or' },
    { $rudderstack: true, $any: true, b: false },
  ],
  [{ allowedConsentIds: [], deniedConsentIds: [] }, {}],
  [{ ads: false }, { ads: false }],
])('own consent: %j is read', (consent, words) => {
  expect(readOwnConsent(consent).words).toEqual(words);
});

test('own consent: property: any JSON is read, within bounds', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const { words } = readOwnConsent(value);
      expect(Object.values(words).every((word) => typeof word === 'boolean')).toBe(true);
    }),
  );
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`name-${n}`, true]));
  expect(Object.keys(readOwnConsent(many).words)).toHaveLength(200);
});

const names = Array.from({ length: 900 }, (_, n) => `name-${n}`);
const all = (word: boolean): Record<string, boolean> => Object.fromEntries(names.map((name) => [name, word]));
test.each<[where: string, consent: unknown]>([
  ['names that are granted', { ...all(true), ads: false }],
  ['names that are denied', { ...all(false), ads: 'Denied' }],
  ['categories', { categoryPreferences: { ...all(true), ads: false } }],
  ['names, in a list', { ...all(true), rejected_categories: ['ads'] }],
  ['rejected categories', { rejected_categories: [...names, 'ads'] }],
  ['ids', { allowedConsentIds: names, deniedConsentIds: [...names, 'ads'] }],
])('own consent: a denial after 900 %s is read', (_where, consent) => {
  expect(readOwnConsent(consent).words['ads']).toBe(false);
});
