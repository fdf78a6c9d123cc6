import { expect, test } from 'vitest';
import { sampleShopper } from '../testing/sample-shopper.ts';
import { parametersOf, requestOf } from '../testing/sent-by.ts';
import { admitad } from './destination.ts';

const context = { current_url: 'https://shop.example.com/?admitad_uid=click-1' };

test('Admitad: an order is one position with its price', () => {
  const request = requestOf(admitad, [sampleShopper({ context })]);
  expect(request.method).toBe('GET');
  expect(request.url.startsWith('https://ad.admitad.com/tt?postback=1&')).toBe(true);
  expect(parametersOf(request)).toEqual({
    postback: '1',
    response_type: 'img',
    campaign_code: 'a1b2c3d4e5',
    postback_key: 'example-postback-key',
    action_code: '1',
    tariff_code: '1',
    payment_type: 'sale',
    uid: 'click-1',
    order_id: 'A-1001',
    position_id: '1',
    position_count: '1',
    quantity: '2',
    price: '42.5',
    currency_code: 'EUR',
    client_id: 'customer-7',
  });
});

test('Admitad: an event without an order id is sent with the event id, and an event without a click is unfit', () => {
  const lead = sampleShopper({ event: 'Lead', properties: { admitad_uid: 'click-2' } });
  const settings = { paymentType: 'lead', conversionEvents: 'Lead' };
  expect(parametersOf(requestOf(admitad, [lead], settings))).toMatchObject({
    order_id: 'order-event-1',
    payment_type: 'lead',
    quantity: '1',
  });
  expect(() => requestOf(admitad, [sampleShopper()])).toThrow('no click id (admitad_uid)');
});
