import { expect, test } from 'vitest';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { bodyOf, requestOf } from '../testing/sent-by.ts';
import { iHeartMediaMagellan } from './destination.ts';

const visitor = {
  token: '0123456789abcdef0123456789abcdef',
  ip: '203.0.113.7',
  ua: 'Example/1.0',
  url: 'https://shop.example.com/thanks',
  ref: 'https://shop.example.com/cart',
};
const product = { productId: 'tea-1', productName: 'Tea', productType: 'Drinks', productVendor: 'Leaf' };
const order = { id: 'A-1001', quantity: 2, lineItems: [{ ...product, value: 21.25, quantity: 2 }] };

test.each([
  ['Order Completed', 'purchase', { value: 42.5, currency: 'EUR', ...order }],
  ['Checkout Started', 'checkout', { value: 42.5, currency: 'EUR', ...order }],
  ['Product Viewed', 'product', { value: 21.25, currency: 'EUR', ...product }],
  ['Product Added', 'addToCart', { value: 21.25, currency: 'EUR', ...product, quantity: 2 }],
  ['Signed Up', 'lead', { value: 42.5, currency: 'EUR', id: 'A-1001' }],
  ['Page Viewed', 'view', {}],
])('Magellan AI: %s is sent as %s', (event, action, details) => {
  expect(requestOf(iHeartMediaMagellan, [sampleShopper({ event })])).toMatchObject({
    method: 'POST',
    url: `https://mgln.ai/${action}`,
  });
  expect(bodyOf(iHeartMediaMagellan, [sampleShopper({ event })])).toEqual({ ...visitor, ...details });
});

test('Magellan AI: a lead may have no value, but a purchase must have a value', () => {
  expect(bodyOf(iHeartMediaMagellan, [sampleShopper({ event: 'Lead', properties: {} })])).toEqual({
    ...visitor,
    value: 0,
    currency: 'USD',
    id: 'order-event-1',
  });
  expect(() => requestOf(iHeartMediaMagellan, [sampleShopper({ properties: {} })])).toThrow(
    'value and currency of a purchase',
  );
});

test('Magellan AI: an unknown visitor is unfit, an event that Magellan has no name for is skipped, a short pixel token is refused', () => {
  expect(() => requestOf(iHeartMediaMagellan, [sampleStranger()])).toThrow('an IPv4 address');
  const prepared = iHeartMediaMagellan.prepare(iHeartMediaMagellan.exampleSettings);
  expect(prepared.accepts?.(sampleShopper({ event: 'Quiz Done' }))).toBe(false);
  expect(() => iHeartMediaMagellan.prepare({ pixelToken: 'short' })).toThrow('32 hexadecimal digits');
});
