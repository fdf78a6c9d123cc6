import { expect, test } from 'vitest';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { bodyOf, requestOf } from '../testing/sent-by.ts';
import { theTradeDesk } from './destination.ts';

const properties = {
  order_id: 'A-1001',
  value: 42.5,
  currency: 'eur',
  products: [{ product_id: 'tea-1', name: 'Tea', category: 'Drinks', price: 21.25, quantity: 2 }],
  tdid: '00000000-0000-4000-8000-000000000009',
  ttd_click_id: 'click-1',
  td1: 'first order',
};

test('The Trade Desk: a purchase as the real-time endpoint takes it', () => {
  expect(requestOf(theTradeDesk, [sampleShopper({ properties })])).toMatchObject({
    method: 'POST',
    url: 'https://insight.adsrvr.org/track/realtimeconversion',
  });
  expect(bodyOf(theTradeDesk, [sampleShopper({ properties })])).toEqual({
    data: [
      {
        adv: 'abc1234',
        tracker_id: 'xyz5678',
        event_name: 'purchase',
        adid: '00000000-0000-4000-8000-000000000009',
        adid_type: 'TDID',
        imp: 'click-1',
        client_ip: '203.0.113.7',
        user_agent: 'Example/1.0',
        referrer_url: 'https://shop.example.com/thanks',
        value: 42.5,
        currency: 'EUR',
        order_id: 'A-1001',
        items: [{ item_code: 'tea-1', name: 'Tea', qty: 2, price: 21.25, cat: 'Drinks' }],
        td1: 'first order',
      },
    ],
  });
});

test.each([
  ['Product Viewed', 'viewitem'],
  ['Product Added', 'addtocart'],
  ['Checkout Started', 'startcheckout'],
  ['Quiz Done', 'Quiz Done'],
])('The Trade Desk: %s is sent as %s', (event, event_name) => {
  expect(bodyOf(theTradeDesk, [sampleShopper({ event })])).toMatchObject({ data: [{ event_name }] });
});

test('The Trade Desk: an event of an unknown visitor is unfit', () => {
  expect(() => requestOf(theTradeDesk, [sampleStranger()])).toThrow('The Trade Desk needs a device id');
});
