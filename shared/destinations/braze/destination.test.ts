import { describe, expect, it } from 'vitest';
import { UnfitEventError } from '../sdk/destination.ts';
import type { OutboundAnswer, OutboundEvent } from '../sdk/destination.ts';
import { sampleEvent } from '../sdk/sample-event.ts';
import { braze } from './destination.ts';
import { brazePlatform } from './platform.ts';

const settings = { baseUrl: 'https://rest.fra-01.braze.eu/', apiKey: 'key' };
const track = { resolved: sampleEvent() };
const identify = { resolved: sampleEvent({ id: 'i1', event: '$identify', event_properties: {} }) };
const visitedBy = (event: OutboundEvent, visitor: Record<string, unknown>) => ({
  resolved: { ...event.resolved, visitor: { id: 'v1', custom_properties: {}, ...visitor } },
});
const bodyOf = (...events: readonly OutboundEvent[]) =>
  JSON.parse(braze.prepare(settings).buildRequest(events, 0).body ?? '');
const identified = (...events: readonly OutboundEvent[]) => {
  const { next, body } = braze.prepare(settings).buildRequest(events, 0);
  return { ...JSON.parse(body ?? ''), ...JSON.parse(next?.body ?? '{}') };
};
const answer = (status: number, body: unknown): OutboundAnswer => ({ status, headers: {}, body: JSON.stringify(body) });

describe('Braze', () => {
  it('track: an event object of a user, with its time in ISO 8601', () => {
    expect(braze.prepare(settings).buildRequest([track], 0)).toMatchObject({
      method: 'POST',
      url: 'https://rest.fra-01.braze.eu/users/track',
      headers: { authorization: 'Bearer key' },
    });
    expect(bodyOf(track)).toEqual({
      events: [
        {
          external_id: 'customer-7',
          name: 'Order Completed',
          time: '2023-11-14T22:13:20.000Z',
          properties: { order_id: 'A-1001', value: 42.5, currency: 'EUR' },
        },
      ],
    });
  });

  const products = [
    { product_id: 'tea-1', name: 'Tea', variant: 'green', price: 21.25, quantity: 2, brand: 'Leaf', note: 'x' },
  ];
  const shop = (event: string, event_properties: Record<string, unknown>) =>
    bodyOf({ resolved: sampleEvent({ event, event_properties: { currency: 'eur', products, ...event_properties } }) })
      .events[0];

  it('track: an order is sent as Braze’s recommended event, which counts as revenue', () => {
    expect(shop('Order Completed', { order_id: 'A-1', total: 45.5, discount: 2, tax: 3, coupon: 'TEN' })).toEqual({
      external_id: 'customer-7',
      name: 'ecommerce.order_placed',
      time: '2023-11-14T22:13:20.000Z',
      properties: {
        order_id: 'A-1',
        total_value: 45.5,
        total_discounts: 2,
        tax: 3,
        currency: 'EUR',
        source: 'shop.example.com',
        products: [
          {
            product_id: 'tea-1',
            product_name: 'Tea',
            variant_id: 'green',
            quantity: 2,
            price: 21.25,
            metadata: { brand: 'Leaf', note: 'x' },
          },
        ],
        metadata: { coupon: 'TEN' },
      },
    });
  });

  it('track: other steps of a purchase are sent with the properties that Braze requires for each', () => {
    expect(shop('Checkout Started', { checkout_id: 'C-1' })).toMatchObject({
      name: 'ecommerce.checkout_started',
      properties: { checkout_id: 'C-1', total_value: 42.5 },
    });
    expect(shop('Order Cancelled', { order_id: 'A-1', reason: 'late' })).toMatchObject({
      name: 'ecommerce.order_cancelled',
      properties: { order_id: 'A-1', cancel_reason: 'late' },
    });
    const viewed = shop('Product Viewed', {});
    expect(viewed).toMatchObject({
      name: 'ecommerce.product_viewed',
      properties: { product_id: 'tea-1', price: 21.25 },
    });
    expect(viewed?.properties).not.toHaveProperty('quantity');
  });

  it.each([
    ['Order Completed', { order_id: null }],
    ['Order Completed', { order_id: 'A-1', currency: 'euros' }],
    ['Order Completed', { order_id: 'A-1', products: [...products, { product_id: 'b' }] }],
    ['Checkout Started', {}],
    ['Order Cancelled', { order_id: 'A-1' }],
  ])('track: %s with %j misses something Braze demands and stays a custom event', (event, properties) => {
    expect(shop(event, properties)).toMatchObject({ name: event });
  });

  it('track: an event that a mapping renamed is sent as the mapping made it', () => {
    const mapped = { eventName: 'ecommerce.order_placed', properties: { order_id: 'A-1', products: [] } };
    expect(bodyOf({ ...track, mapped }).events[0]).toMatchObject({
      name: mapped.eventName,
      properties: mapped.properties,
    });
  });

  it('track: a leading dollar sign is removed from names', () => {
    const resolved = sampleEvent({ event: '$experiment_impression', event_properties: { $key: 'a', gone: null } });
    expect(bodyOf({ resolved }).events[0]).toMatchObject({ name: 'experiment_impression', properties: { key: 'a' } });
    expect(() => bodyOf({ resolved: sampleEvent({ event: '$' }) })).toThrow(UnfitEventError);
  });

  it('track: identifies the user by e-mail address, else by an alias that creates a profile', () => {
    expect(bodyOf(visitedBy(track, { email: 'ada@example.com' })).events[0]).toMatchObject({
      email: 'ada@example.com',
    });
    expect(bodyOf(visitedBy(track, {})).events[0]).toMatchObject({
      user_alias: { alias_name: 'v1', alias_label: 'sluice_visitor_id' },
      _update_existing_only: false,
    });
  });

  it('identify: is sent in a request of its own, which first merges the alias into the user', () => {
    const groups = [track, identify].map((event) => braze.prepare(settings).groupOf?.(event));
    expect(new Set(groups).size).toBe(2);
    expect(identified(identify)).toMatchObject({
      aliases_to_identify: [{ external_id: 'customer-7', user_alias: { alias_name: 'sample-visitor' } }],
      attributes: [{ external_id: 'customer-7', email: 'ada@example.com', first_name: 'Ada', plan: 'pro' }],
    });
  });

  it('identify: uses Braze’s names, and sends no property that would name another user', () => {
    const visitor = {
      external_id: 'c1',
      gender: 'Female',
      city: 'Berlin',
      phone_number: '+4930123456',
      date_of_birth: '1815-12-10',
      custom_properties: { braze_id: 'x', user_alias: {}, _update_existing_only: true },
    };
    expect(identified(visitedBy(identify, visitor)).attributes).toEqual([
      { external_id: 'c1', gender: 'F', home_city: 'Berlin', phone: '+4930123456', dob: '1815-12-10' },
    ]);
    expect(identified(visitedBy(identify, { external_id: 'c1', gender: 'x' })).attributes).toEqual([
      { external_id: 'c1' },
    ]);
  });

  it('settings: up to 75 objects a request', () => {
    expect(braze.prepare(settings).batchEventsMax).toBe(75);
    expect(() => braze.prepare({ ...settings, batchSize: '76' })).toThrow('settings.batchSize ');
    expect(() => braze.prepare({ ...settings, baseUrl: 'rest.iad-01.braze.com' })).toThrow('settings.baseUrl ');
  });

  it('track: a request has up to 75 objects, all lists together', () => {
    const prepared = braze.prepare({ ...settings, subscribeEvents: 'Order Completed', subscriptionGroups: 'group-1' });
    const requestOf = (count: number) =>
      prepared.buildRequest(
        Array.from({ length: count }, () => track),
        0,
      );
    const request = requestOf(37);
    const { attributes, events } = JSON.parse(request.body ?? '');
    expect([attributes.length, events.length]).toEqual([37, 37]);
    expect(() => requestOf(38)).toThrow(UnfitEventError);
    const judgedWith = (more: number) => {
      const body = JSON.stringify({ attributes, events: [...events, ...events.slice(0, more)] });
      return brazePlatform.judge({ ...request, body }, { nowMs: 0 }).problems.length;
    };
    expect([judgedWith(1), judgedWith(2)]).toEqual([0, 1]);
  });

  it('answer: a success lists refused rows by their index in each list', () => {
    const events = [identify, track, identify, track];
    const errors = [
      { type: 'invalid', input_array: 'events', index: 1 },
      { type: 'invalid', input_array: 'attributes', index: 0 },
    ];
    const outcomes = braze.prepare(settings).readAnswer?.(answer(201, { message: 'success', errors }), events);
    expect(outcomes?.map(({ kind }) => kind)).toEqual(['reject', 'delivered', 'delivered', 'reject']);
    expect(outcomes?.[3]).toEqual({ kind: 'reject', reason: 'row refused: events' });
  });

  it('answer: without refused rows the status decides', () => {
    const prepared = braze.prepare(settings);
    expect(prepared.readAnswer?.(answer(201, { message: 'success' }), [track])).toBeUndefined();
    expect(prepared.readAnswer?.(answer(400, { message: 'x', errors: [] }), [track])).toBeUndefined();
  });
});
