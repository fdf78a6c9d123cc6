import { expect, test } from 'vitest';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { parametersOf, requestOf, sha256 } from '../testing/sent-by.ts';
import { podscribe } from './destination.ts';

test('Podscribe: a purchase with address, browser and hashed e-mail address', () => {
  const request = requestOf(podscribe, [sampleShopper({ visitor: { email: 'Ada.L+x@Gmail.com' } })]);
  expect(request).toMatchObject({ method: 'GET', body: undefined });
  expect(request.url.startsWith('https://verifi.podscribe.com/tag?action=purchase&')).toBe(true);
  expect(parametersOf(request)).toEqual({
    action: 'purchase',
    advertiser: 'example-brand',
    timestamp: '2023-11-14T22:13:20.000Z',
    device_id: 'sample-visitor',
    url: 'https://shop.example.com/thanks',
    referrer: 'https://shop.example.com/cart',
    ip: '203.0.113.7',
    user_agent: 'Example/1.0',
    order_value: '42.5',
    order_number: 'A-1001',
    currency: 'EUR',
    hashed_email: sha256('adal@gmail.com'),
    num_items_purchased: '2',
  });
});

test.each([
  ['Page Viewed', 'view'],
  ['Signed Up', 'signup'],
  ['Lead', 'lead'],
  ['Quiz: Done!', 'quiz_done'],
])('Podscribe: %s is sent as the action %s', (event, action) => {
  expect(parametersOf(requestOf(podscribe, [sampleShopper({ event })]))['action']).toBe(action);
});

test('Podscribe: without an address no person can be matched', () => {
  expect(() => requestOf(podscribe, [sampleStranger()])).toThrow('Podscribe needs an IP address');
});
