import { expect, test } from 'vitest';
import { findKinds } from './find-kinds.ts';

const kinds = [
  { id: 'Facebook', label: 'Facebook Conversions API', names: ['Facebook Pixel'] },
  { id: 'XAds', label: 'X Ads Conversions API', names: ['TWITTER_ADS'] },
  { id: 'BingAds', label: 'Bing Ads', names: [] },
  { id: 'HTTPDestination', label: 'HTTP', names: ['Webhooks (Actions)'] },
  { id: 'GoogleAds360', label: 'Google Ads 360', names: [] },
];

test.each([
  ['meta', ['Facebook']],
  ['Twitter', ['XAds']],
  ['twitter ads', ['XAds']],
  ['microsoft', ['BingAds']],
  ['webhook', ['HTTPDestination']],
  ['conversions api', ['Facebook', 'XAds']],
  ['ads 360', ['GoogleAds360']],
  ['googleads', ['GoogleAds360']],
  ['httpdest', ['HTTPDestination']],
  ['s3', []],
  ['', ['Facebook', 'XAds', 'BingAds', 'HTTPDestination', 'GoogleAds360']],
  ['no such platform', []],
])('find kinds: "%s" finds %j', (search, ids) => {
  expect(findKinds(kinds, search).map(({ id }) => id)).toEqual(ids);
});

test('find kinds: a kind without label or names is found by its id', () => {
  expect(findKinds([{ id: 'GoogleBigQuery' }], 'big query')).toHaveLength(1);
});
