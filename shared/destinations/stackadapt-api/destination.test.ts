import { expect, test } from 'vitest';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { parametersOf, requestOf } from '../testing/sent-by.ts';
import { stackAdaptApi } from './destination.ts';

test('StackAdapt: a purchase, the visitor in parameters and headers', () => {
  const request = requestOf(stackAdaptApi, [sampleShopper()]);
  expect(request).toMatchObject({
    method: 'GET',
    headers: { 'x-forwarded-for': '203.0.113.7', 'user-agent': 'Example/1.0' },
    body: undefined,
  });
  expect(request.url.startsWith('https://tags.srv.stackadapt.com/saq_pxl?uid=')).toBe(true);
  const { args, ...parameters } = parametersOf(request);
  expect(parameters).toEqual({
    uid: 'sqQHa3Ob1234567890abcd',
    event_type: 'track',
    url: 'https://shop.example.com/thanks',
    ref: 'https://shop.example.com/cart',
    ip_fwd: '203.0.113.7',
    ua_fwd: 'Example/1.0',
  });
  expect(JSON.parse(args ?? '')).toEqual({
    action: 'Order Completed',
    user_id: 'customer-7',
    revenue: 42.5,
    order_id: 'A-1001',
    product_id: 'tea-1',
    product_name: 'Tea',
    product_category: 'Drinks',
    product_price: 21.25,
    product_quantity: 2,
  });
});

test('StackAdapt: several products are sent as a list, and the URL contains no personal data', () => {
  const products = [{ product_id: 'a' }, { product_id: 'b', quantity: 3 }];
  const { url } = requestOf(stackAdaptApi, [sampleShopper({ event: 'Page Viewed', properties: { products } })]);
  const args = JSON.parse(new URL(url).searchParams.get('args') ?? '') as { products: unknown };
  expect(args.products).toEqual([
    { product_id: 'a', product_quantity: 1 },
    { product_id: 'b', product_quantity: 3 },
  ]);
  expect(new URL(url).searchParams.get('event_type')).toBe('page');
  expect(decodeURIComponent(url)).not.toMatch(/ada@|Lovelace|844/i);
});

test('StackAdapt: the source of a campaign is among the arguments', () => {
  const context = { ip: '203.0.113.7', utm_source: 'newsletter' };
  const { args = '', ...parameters } = parametersOf(requestOf(stackAdaptApi, [sampleShopper({ context })]));
  expect(JSON.parse(args)).toMatchObject({ utm_source: 'newsletter' });
  expect(parameters).not.toHaveProperty('utm_source');
});

test('StackAdapt: an event without an IP address is unfit', () => {
  expect(() => requestOf(stackAdaptApi, [sampleStranger()])).toThrow('StackAdapt needs an IP address');
});
