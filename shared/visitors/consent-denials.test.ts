import { expect, test } from 'vitest';
import { denialsIn } from './consent-denials.ts';

test.each<[unknown, Record<string, unknown> | undefined]>([
  [
    { Ads: false, stats: 'Denied', more: true, less: null, accepted_categories: ['a'], rejected_categories: ['b'] },
    { Ads: false, stats: 'Denied', rejected_categories: ['b'] },
  ],
  [{ ads: true, other: 'no', rejected_categories: [] }, undefined],
  [{ $gpc: true, ads: true }, { $gpc: true }],
  [{ $gpc: 'true', gpc: true }, undefined],
  ['denied', undefined],
  [undefined, undefined],
])('consent denials: in %j they are found as they are written', (consent, denials) => {
  expect(denialsIn(consent)).toEqual(denials);
});
