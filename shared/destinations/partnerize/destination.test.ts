import { expect, test } from 'vitest';
import { sampleShopper } from '../testing/sample-shopper.ts';
import { requestOf } from '../testing/sent-by.ts';
import { partnerize } from './destination.ts';

const context = { current_url: 'https://shop.example.com/?clickref=1011l%2F2' };

test('Partnerize: the path holds the conversion, with its items in brackets', () => {
  const { method, url, body } = requestOf(partnerize, [sampleShopper({ context })]);
  expect({ method, body }).toEqual({ method: 'GET', body: undefined });
  expect(url).toBe(
    'https://prf.hn/conversion/tracking_mode:api/campaign:1100l4000/clickref:1011l%2F2/conversionref:A-1001/currency:EUR/' +
      '[sku:tea-1/category:Drinks/value:21.25/quantity:2]',
  );
});

test('Partnerize: an order without products is sent as one item, and without an order id the event id is used', () => {
  const properties = { clickref: 'c', value: 5, currency: 'USD' };
  expect(requestOf(partnerize, [sampleShopper({ properties })]).url).toBe(
    'https://prf.hn/conversion/tracking_mode:api/campaign:1100l4000/clickref:c/conversionref:order-event-1/currency:USD/' +
      '[category:order/value:5/quantity:1]',
  );
});

const priced = Array.from({ length: 51 }, (_, index) => ({ product_id: `p${index}`, price: 1 }));

test.each([
  ['a product has no price', { value: 100, products: [{ product_id: 'a', price: 60 }, { product_id: 'b' }] }, 100],
  ['there are more than 50 products', { products: priced }, 51],
])('Partnerize: an order is sent as its total if %s', (_case, order, total) => {
  const { url } = requestOf(partnerize, [sampleShopper({ context, properties: { order_id: 'A', ...order } })]);
  expect(url.slice(url.indexOf('/['))).toBe(`/[category:order/value:${total}/quantity:1]`);
});

test('Partnerize: values are escaped in the path, and an event without a click is unfit', () => {
  const properties = { clickref: 'c', order_id: 'a/b:c]?x=1#y', currency: 'USD', value: 1 };
  expect(requestOf(partnerize, [sampleShopper({ properties })]).url).toContain(
    '/conversionref:a%2Fb%3Ac%5D%3Fx%3D1%23y/',
  );
  expect(() => requestOf(partnerize, [sampleShopper()])).toThrow('no click id (clickref)');
});
