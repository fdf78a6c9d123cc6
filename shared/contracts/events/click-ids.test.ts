import { expect, test } from 'vitest';
import { clickIdsIn, mayHaveClick, mergeClickIds } from './click-ids.ts';

test.each([
  [{ gclid: 'G', other: 'x' }, { gclid: 'G' }],
  [
    { current_url: 'https://a.test/?msclkid=M&li_fat_id=L#x', fbp: 'fb.1.2.3' },
    { fbp: 'fb.1.2.3', msclkid: 'M', li_fat_id: 'L' },
  ],
  [{ gclid: 'own', current_url: 'https://a.test/?gclid=other' }, { gclid: 'own' }],
  [{ gclid: '', fbclid: 7, ttclid: 'x'.repeat(501), current_url: 'not an address?gclid=G' }, undefined],
])('click ids: the ids in the context %j are found', (context, ids) => {
  const found = clickIdsIn(context, 5.5);
  const expected = ids && Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, { id, at: 5 }]));
  expect(found).toEqual(expected);
});

test('click ids: the parameter of each platform is found under its exact name, not at the end of a longer name', () => {
  for (const name of ['msclkid', 'gbraid', 'wbraid', 'li_fat_id', 'ScCid', 'epik', 'rdt_cid', 'tblci', 'irclickid']) {
    expect(mayHaveClick.test(`https://a.test/?${name}=x`)).toBe(true);
    expect(mayHaveClick.test(`https://a.test/?my${name}=x`)).toBe(false);
  }
});

test('click ids: the latest id of a platform is kept, with the time when that id was first seen', () => {
  const first = mergeClickIds(undefined, { gclid: { id: 'A', at: 1 } });
  expect(mergeClickIds(first, { gclid: { id: 'A', at: 9 } })).toBe(first);
  expect(mergeClickIds(first, { gclid: { id: 'B', at: 9 }, fbclid: { id: 'F', at: 2 } })).toEqual({
    gclid: { id: 'B', at: 9 },
    fbclid: { id: 'F', at: 2 },
  });
  // A late event does not restore an older id.
  const later = mergeClickIds(first, { gclid: { id: 'B', at: 9 } });
  expect(mergeClickIds(later, { gclid: { id: 'A', at: 1 } })).toBe(later);
  expect(mergeClickIds('nothing', { gclid: 'no id', fbclid: { id: 3, at: 1 } })).toEqual({});
});
