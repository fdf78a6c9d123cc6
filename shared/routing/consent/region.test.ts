import { expect, test } from 'vitest';
import { isCovered, regionCode, regionOf, unknownRegion } from './region.ts';

test.each([
  [{}, unknownRegion],
  [{ country: 7 }, unknownRegion],
  [{ country: 'nowhere', state: 'CA' }, unknownRegion],
  [{ country: 'US' }, { country: 'US', state: '' }],
  [
    { country: 'us', state: ' California ' },
    { country: 'US', state: 'CA' },
  ],
  [
    { country: 'US', state: 'new york' },
    { country: 'US', state: 'NY' },
  ],
  [
    { country: 'US', state: 'ca' },
    { country: 'US', state: 'CA' },
  ],
  [
    { country: 'Germany', state: ' by ' },
    { country: 'DE', state: 'BY' },
  ],
  [
    { country: 'DE', state: 'California' },
    { country: 'DE', state: '' },
  ],
  [
    { country: 'FR', state: '75' },
    { country: 'FR', state: '75' },
  ],
  [
    { country: 'FR', state: 'x-y' },
    { country: 'FR', state: '' },
  ],
  [
    { country: 'FR', state: 'IDFX' },
    { country: 'FR', state: '' },
  ],
  [
    { country: 'FR', state: 7 },
    { country: 'FR', state: '' },
  ],
])('region: a visitor with %j is in the region %j', (visitor, expected) => {
  expect(regionOf(visitor)).toEqual(expected);
});

test('region: is shown as its codes', () => {
  const codes = [unknownRegion, { country: 'DE', state: '' }, { country: 'US', state: 'CA' }].map(regionCode);
  expect(codes).toEqual(['unknown', 'DE', 'US-CA']);
});

test.each<[readonly string[], string, string, boolean]>([
  [[], 'DE', '', false],
  [[], '', '', true],
  [['DE'], '', '', true],
  [['DE'], 'DE', 'BY', true],
  [['FR', 'DE'], 'DE', '', true],
  [['EU'], 'DE', '', true],
  [['EU'], 'NO', '', false],
  [['EEA'], 'NO', '', true],
  [['EEA'], 'DE', '', true],
  [['EEA'], 'CH', '', false],
  [['US-CA'], 'US', 'CA', true],
  [['US-CA'], 'US', 'TX', false],
  [['US-CA'], 'US', '', true],
  [['US-CA'], 'DE', 'CA', false],
  [['US-CA'], 'DE', '', false],
])('region: %j covers %s %s: %s', (regions, country, state, expected) => {
  expect(isCovered(regions, { country, state })).toBe(expected);
});
