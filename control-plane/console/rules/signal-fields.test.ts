import { expect, test } from 'vitest';
import { atCommas, changedTcf, entriesOf } from './signal-fields.tsx';

test('consent signals: a category may have spaces in its name; numbers and regions are separated by spaces, too', () => {
  expect(entriesOf(' Marketing Cookies, Analytics\nAds,Ads,', atCommas)).toEqual([
    'Marketing Cookies',
    'Analytics',
    'Ads',
  ]);
  expect(entriesOf('1 3, 4')).toEqual(['1', '3', '4']);
});

test('consent signals: emptied TCF purposes leave the other TCF settings for the purposes that are typed next', () => {
  const tcf = { purposes: [1], vendors: [], onlyWhereGdprApplies: true, segment: 'publisher' } as const;
  expect(changedTcf(tcf, tcf, { purposes: [] })).toBeUndefined();
  expect(changedTcf(tcf, undefined, { purposes: [3] })).toEqual({ ...tcf, purposes: [3], vendors: undefined });
  // Vendors have a field of their own, which was emptied last.
  const ofVendors = { purposes: [], vendors: [5] };
  expect(changedTcf(ofVendors, ofVendors, { vendors: undefined })).toBeUndefined();
  expect(changedTcf(ofVendors, undefined, { purposes: [3] })?.vendors).toBeUndefined();
});
