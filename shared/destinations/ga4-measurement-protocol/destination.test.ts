import { describe, expect, it } from 'vitest';
import type { OutboundEvent } from '../sdk/destination.ts';
import { sampleEvent } from '../sdk/sample-event.ts';
import { ga4MeasurementProtocol } from './destination.ts';
import { ga4Name, ga4ParameterName } from './names.ts';

const prepared = ga4MeasurementProtocol.prepare(ga4MeasurementProtocol.exampleSettings);
type Body = {
  client_id: string;
  user_id?: string;
  user_properties?: object;
  events: { name: string; timestamp_micros: number; params: Record<string, unknown> }[];
};
const bodyOf = (...events: OutboundEvent[]): Body => JSON.parse(prepared.buildRequest(events, 0).body ?? '') as Body;
const withProperties = (event_properties: Record<string, unknown>): OutboundEvent => ({
  resolved: sampleEvent({ event_properties }),
});
const paramsOf = (properties: Record<string, unknown>) => bodyOf(withProperties(properties)).events[0]?.params ?? {};

describe('GA4MeasurementProtocol', () => {
  it('request: collects events of a client', () => {
    const request = prepared.buildRequest([{ resolved: sampleEvent() }], 0);
    expect(request.url).toBe(
      'https://www.google-analytics.com/mp/collect?measurement_id=G-EXAMPLE123&api_secret=example-api-secret',
    );
    expect(JSON.parse(request.body ?? '')).toEqual({
      client_id: 'sample-visitor',
      user_id: 'customer-7',
      ip_override: '203.0.113.7',
      user_agent: 'Mozilla/5.0 (X11; Linux x86_64)',
      events: [
        {
          name: 'purchase',
          timestamp_micros: 1_700_000_000_000_000,
          params: {
            engagement_time_msec: 1,
            page_location: 'https://shop.example.com/thanks?utm_source=mail',
            transaction_id: 'A-1001',
            value: 42.5,
            currency: 'EUR',
          },
        },
      ],
    });
  });

  it('mapping: one that only renames the event keeps the user, the traits and the options of the sender', () => {
    const { context } = sampleEvent().event;
    const integrations = { GA4: { clientId: 'c.1', sessionId: 7 } };
    const resolved = sampleEvent({ context: { ...context, integrations } });
    const settings = { ...ga4MeasurementProtocol.exampleSettings, userTraits: 'plan' };
    const { body = '' } = ga4MeasurementProtocol
      .prepare(settings)
      .buildRequest([{ resolved, mapped: { eventName: 'bought', properties: resolved.event.event_properties } }], 0);
    expect(JSON.parse(body)).toMatchObject({
      client_id: 'c.1',
      user_id: 'customer-7',
      user_properties: { plan: { value: 'pro' } },
      events: [{ name: 'bought', params: { session_id: expect.anything() } }],
    });
  });

  it('mapping: only mapped properties are sent, as parameters and as fields of the request', () => {
    const properties = {
      value: 1,
      client_id: '555.777',
      user_properties: { plan: 'pro', 'a long name of a user property': 'x'.repeat(50), list: [] },
      consent: { ad_user_data: 'DENIED', ad_personalization: 'perhaps' },
    };
    expect(bodyOf({ resolved: sampleEvent(), mapped: { eventName: 'purchase', properties } })).toEqual({
      client_id: '555.777',
      user_properties: { plan: { value: 'pro' }, a_long_name_of_a_user_pr: { value: 'x'.repeat(36) } },
      consent: { ad_user_data: 'DENIED' },
      events: [
        {
          name: 'purchase',
          timestamp_micros: 1_700_000_000_000_000,
          params: { engagement_time_msec: 1, value: 1, currency: 'USD' },
        },
      ],
    });
  });

  it('groups: events of different clients, or with different request fields, are sent in separate requests', () => {
    const group = prepared.groupOf;
    const one = { resolved: sampleEvent() };
    expect(group?.({ resolved: sampleEvent({ id: 'other' }) })).toBe(group?.(one));
    expect(group?.({ resolved: sampleEvent({ context: { ip: '203.0.113.8' } }) })).not.toBe(group?.(one));
    expect(group?.({ resolved: sampleEvent({ context: { ga_client_id: '1.2' } }) })).not.toBe(group?.(one));
  });

  it('accepts: an identify is accepted only if a mapping gave it a name', () => {
    const identify = { resolved: sampleEvent({ event: '$identify' }) };
    expect(prepared.accepts?.(identify)).toBe(false);
    expect(prepared.accepts?.({ ...identify, mapped: { eventName: 'login', properties: {} } })).toBe(true);
    expect(prepared.accepts?.({ resolved: sampleEvent({ event: '$experiment_impression' }) })).toBe(true);
  });

  it('parameters: at most 25 are sent, as texts and numbers, cut to the length that Google accepts', () => {
    expect(paramsOf({ nested: { city: 'Bonn', deep: { a: true } }, list: ['a', 1, {}], none: null, '': 1 })).toEqual({
      engagement_time_msec: 1,
      page_location: expect.any(String),
      nested_city: 'Bonn',
      nested_deep_a: 'true',
      list: 'a,1',
    });
    const many = paramsOf({
      long: 'ü'.repeat(200),
      ...Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`p${i}`, i])),
    });
    expect(Object.keys(many)).toHaveLength(25);
    expect(many['long']).toBe('ü'.repeat(100));
  });

  it('purchase: is sent with the names that Google recommends and with its products, whatever names the event used', () => {
    const products = [
      {
        product_id: 'tea-1',
        name: 'Tea',
        category: 'Drinks',
        brand: 'Leaf',
        variant: 'green',
        price: '21.25',
        quantity: 2,
      },
      { sku: 'cup', name: 'Cup', price: 5, position: 2, coupon: 'TEN', colour: 'red' },
    ];
    const given = { order_id: 'A-1', revenue: 47.5, currency: 'eur', shipping: 3, products };
    expect(bodyOf(withProperties(given)).events[0]).toMatchObject({
      name: 'purchase',
      params: {
        transaction_id: 'A-1',
        value: 47.5,
        currency: 'EUR',
        shipping: 3,
        items: [
          {
            item_id: 'tea-1',
            item_name: 'Tea',
            item_category: 'Drinks',
            item_brand: 'Leaf',
            item_variant: 'green',
            price: 21.25,
            quantity: 2,
          },
          { item_id: 'cup', item_name: 'Cup', price: 5, quantity: 1, index: 2, coupon: 'TEN', colour: 'red' },
        ],
      },
    });
    expect(paramsOf(given)).not.toHaveProperty('order_id');
  });

  it('purchase: amounts and products take precedence if there are too many properties', () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`p${i}`, { city: i, street: i }]));
    const given = { ...many, order_id: 'A-1', total: 4, currency: 'EUR', items: [{ item_id: 'a', price: 4 }] };
    const params = paramsOf(given);
    expect(Object.keys(params)).toHaveLength(25);
    expect(params).toMatchObject({ transaction_id: 'A-1', value: 4, currency: 'EUR', items: [{ item_id: 'a' }] });
    const custom = bodyOf({ resolved: sampleEvent({ event: 'Quiz Finished', event_properties: given }) });
    expect(custom.events[0]).toMatchObject({ name: 'Quiz_Finished', params: { items: [{ item_id: 'a', price: 4 }] } });
  });

  it.each([
    ['Products Searched', { query: 'tea' }, 'search', { search_term: 'tea' }],
    [
      'Product Viewed',
      { product_id: 'a', price: 3, currency: 'EUR' },
      'view_item',
      { value: 3, items: [{ item_id: 'a' }] },
    ],
    [
      'Product List Viewed',
      { products: [{ product_id: 'a', price: 3 }] },
      'view_item_list',
      { items: [{ item_id: 'a' }] },
    ],
    ['Lead', { value: 9, currency: 'eur' }, 'generate_lead', { value: 9, currency: 'EUR' }],
    ['Signed Up', { method: 'mail' }, 'sign_up', { method: 'mail' }],
    ['Order Refunded', { order_id: 'A-1', value: 2 }, 'refund', { transaction_id: 'A-1', value: 2 }],
  ])('recommended: %s with %j is sent as %s with %j', (event, event_properties, name, params) => {
    expect(bodyOf({ resolved: sampleEvent({ event, event_properties }) }).events[0]).toMatchObject({ name, params });
  });

  it('time: an event older than 72 hours is refused, because Google would record it at another time', () => {
    const at = (hours: number) =>
      prepared.buildRequest([{ resolved: sampleEvent() }], 1_700_000_000_000 + hours * 3_600_000);
    expect(at(71.9).body).toContain('timestamp_micros');
    expect(() => at(72.1)).toThrow('older than 3 days');
  });

  it('parameters: items remain a list; a session id becomes a number', () => {
    const items = [{ item_id: 'A', price: 3, tags: ['x'], odd: {} }, 'no item'];
    expect(paramsOf({ items, session_id: 17 })).toMatchObject({
      items: [{ item_id: 'A', price: 3, tags: 'x' }],
      session_id: '17',
    });
    const { session_id } = paramsOf({ session_id: 'abc' });
    expect(session_id).toMatch(/^\d+$/);
    expect(paramsOf({ session_id: 'abc' })['session_id']).toBe(session_id);
  });

  it('event: an event that is too large for a request, or has no name, is refused', () => {
    const items = Array.from({ length: 200 }, () =>
      Object.fromEntries(Array.from({ length: 27 }, (_, i) => [`k${i}`, 'x'.repeat(100)])),
    );
    expect(() => bodyOf(withProperties({ items }))).toThrow('too large');
    expect(() => bodyOf({ resolved: sampleEvent({ event: '$$$' }) })).toThrow('no name');
  });

  it.each([
    ['$experiment_impression', 'experiment_impression'],
    ['Order Completed!', 'Order_Completed'],
    ['1st order', 'st_order'],
    ['session_start', 'event_session_start'],
    ['ga_hit', 'event_ga_hit'],
    ['購入 済', '購入_済'],
    ['x'.repeat(60), 'x'.repeat(40)],
    ['  ', undefined],
  ])('name %j is sent as %j', (given, taken) => {
    expect(ga4Name(given)).toBe(taken);
  });

  it.each([
    ['google_ads', 'p_google_ads'],
    ['_private', 'private'],
    ['a.b c', 'a_b_c'],
  ])('parameter name %j is sent as %j', (given, taken) => {
    expect(ga4ParameterName(given)).toBe(taken);
  });

  it('prepare: refuses a measurement id in another format', () => {
    expect(() => ga4MeasurementProtocol.prepare({ measurementId: 'UA-1', apiSecret: 'a' })).toThrow(
      'settings.measurementId ',
    );
  });
});
