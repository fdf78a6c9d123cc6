import { expect, test } from 'vitest';
import { sampleShopper } from '../testing/sample-shopper.ts';
import { bodyOf, requestOf } from '../testing/sent-by.ts';
import { taboola } from './destination.ts';

const context = { current_url: 'https://shop.example.com/thanks?tblci=GiC-Click_1' };

test('Taboola: purchases and other events are sent in bulk, each with its click id', () => {
  const events = [sampleShopper({ context }), sampleShopper({ context, event: 'Quiz Done', properties: {}, id: 'e2' })];
  expect(requestOf(taboola, events)).toMatchObject({
    method: 'POST',
    url: 'https://trc.taboola.com/1234567/log/3/bulk-s2s-action',
    headers: { 'content-type': 'application/json' },
  });
  expect(bodyOf(taboola, events)).toEqual({
    actions: [
      {
        'click-id': 'GiC-Click_1',
        timestamp: 1_700_000_000_000,
        name: 'make_purchase',
        revenue: 42.5,
        currency: 'EUR',
        quantity: 2,
        orderid: 'A-1001',
      },
      { 'click-id': 'GiC-Click_1', timestamp: 1_700_000_000_000, name: 'Quiz Done' },
    ],
  });
});

test('Taboola: an event without a click id is unfit, unless the visitor’s properties have one', () => {
  expect(() => requestOf(taboola, [sampleShopper()])).toThrow('no click id (tblci)');
  const kept = sampleShopper({ visitor: { custom_properties: { taboola_cid: 'kept' } } });
  expect(bodyOf(taboola, [kept])).toMatchObject({ actions: [{ 'click-id': 'kept' }] });
});

test('Taboola: an account id that is not a number is refused', () => {
  expect(() => taboola.prepare({ accountId: 'shop' })).toThrow('settings.accountId must be a number');
});
