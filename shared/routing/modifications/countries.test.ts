import { expect, test } from 'vitest';
import { countryCode } from './countries.ts';

test.each([
  ['US', 'us'],
  ['usa', 'us'],
  [' United States ', 'us'],
  ['The United States of America', 'us'],
  ['U.S.A.', 'us'],
  ['Deutschland', undefined],
  ['Germany', 'de'],
  ['DEU', 'de'],
  ['UK', 'gb'],
  ['United Kingdom', 'gb'],
  ['Türkiye', 'tr'],
  ['Turkey', 'tr'],
  ["Côte d'Ivoire", 'ci'],
  ['Ivory Coast', 'ci'],
  ['Trinidad and Tobago', 'tt'],
  ['Bosnia & Herzegovina', 'ba'],
  ['Saint Lucia', 'lc'],
  ['The Bahamas', 'bs'],
  ['South Korea', 'kr'],
  ['Hong Kong', 'hk'],
  ['XX', undefined],
  ['', undefined],
  ['toString', undefined],
  ['x'.repeat(10_000), undefined],
])('country code: %.30s is %s', (text, expected) => {
  expect(countryCode(text)).toBe(expected);
});
