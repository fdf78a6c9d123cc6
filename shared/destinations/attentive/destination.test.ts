import { expect, test } from 'vitest';
import { eventUuid } from '../sdk/event-ids.ts';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { attemptMs, bodyOf, requestOf } from '../testing/sent-by.ts';
import { requestsInTurn } from '../sdk/request-content.ts';
import { attentive } from './destination.ts';

const visitor = { phone_number: '+44 844 412 4653' };
const user = {
  email: 'ada@example.com',
  phone: '+448444124653',
  externalIdentifiers: { clientUserId: 'customer-7' },
};
const occurredAt = '2023-11-14T22:13:20.000Z';

test.each([
  ['Order Completed', 'purchase', { orderId: 'A-1001' }],
  ['Product Added', 'add-to-cart', {}],
  ['Product Viewed', 'product-view', {}],
])('Attentive: %s is the e-commerce event %s', (event, path, more) => {
  expect(requestOf(attentive, [sampleShopper({ event, visitor })])).toMatchObject({
    method: 'POST',
    url: `https://api.attentivemobile.com/v1/events/ecommerce/${path}`,
    headers: { authorization: 'Bearer example' },
  });
  expect(bodyOf(attentive, [sampleShopper({ event, visitor })])).toEqual({
    user,
    items: [
      {
        productId: 'tea-1',
        productVariantId: 'tea-1',
        name: 'Tea',
        price: [{ value: 21.25, currency: 'EUR' }],
        quantity: 2,
      },
    ],
    occurredAt,
    ...more,
  });
});

test('Attentive: any other event is sent as a custom event, without characters that names and keys may not have', () => {
  const properties = { 'a{b}': 1, '""': 2, none: null };
  const event = sampleShopper({ event: 'Quiz (Done), "Tea"', properties });
  expect(requestOf(attentive, [event]).url).toBe('https://api.attentivemobile.com/v1/events/custom');
  expect(bodyOf(attentive, [event])).toEqual({
    user,
    type: 'Quiz Done Tea',
    properties: { ab: 1 },
    externalEventId: eventUuid('order-event-1'),
    occurredAt,
  });
  // Attentive's purchase event requires products, so a purchase without them is a custom event.
  expect(requestOf(attentive, [sampleShopper({ properties: { value: 5 } })]).url).toMatch(/\/events\/custom$/);
});

test('Attentive: the variant of a product is sent in addition to the product id', () => {
  const products = [{ product_id: 'p', variant_id: 'v', price: 1 }];
  expect(bodyOf(attentive, [sampleShopper({ properties: { products } })])).toMatchObject({
    items: [{ productId: 'p', productVariantId: 'v', price: [{ value: 1 }] }],
  });
});

test('Attentive: an identify is sent as custom attributes', () => {
  const identify = sampleShopper({ event: '$identify', visitor });
  expect(requestOf(attentive, [identify]).url).toBe('https://api.attentivemobile.com/v1/attributes/custom');
  expect(bodyOf(attentive, [identify])).toEqual({
    user,
    properties: { first_name: 'Ada', last_name: 'Lovelace', country: 'United Kingdom', plan: 'pro' },
  });
});

test('Attentive: an unknown visitor and an event older than 12 hours are unfit', () => {
  expect(() => requestOf(attentive, [sampleStranger()])).toThrow('Attentive needs an e-mail address');
  const old = sampleShopper({ time: attemptMs - 12 * 3_600_000 - 1 });
  expect(() => requestOf(attentive, [old])).toThrow('older than 12 hours');
});

const subscribing = { unsubscribeEvents: 'Left', subscribeEvents: 'Joined', signUpSourceId: '123', channels: 'email' };
const pathsOf = (event: string, time?: number): readonly string[] =>
  requestsInTurn(
    requestOf(attentive, [sampleShopper({ event, ...(time === undefined ? {} : { time }) })], subscribing),
  ).map(({ url }) => new URL(url).pathname);

test('Attentive: an opt-out is sent before its event, which Attentive may refuse', () => {
  expect(pathsOf('Left')).toEqual(['/v1/subscriptions/unsubscribe', '/v1/events/custom']);
  // For a repeated opt-in, Attentive sends the person a message; so a retry of the event must not repeat it.
  expect(pathsOf('Joined')).toEqual(['/v1/events/custom', '/v1/subscriptions']);
});

test('Attentive: an opt-out counts at any age, an opt-in only as long as its event', () => {
  const old = attemptMs - 24 * 3_600_000;
  expect(pathsOf('Left', old)).toEqual(['/v1/subscriptions/unsubscribe']);
  expect(() => pathsOf('Joined', old)).toThrow('older than 12 hours');
});

test('Attentive: an unreadable currency of a product is not replaced by that of the event', () => {
  const products = [{ product_id: 'p1', price: 5_000, currency: 'US$' }];
  const properties = { order_id: 'A-1', currency: 'EUR', products };
  const { body } = requestOf(attentive, [sampleShopper({ properties })]);
  expect(body).toContain('"price":[{"value":5000}]');
});
