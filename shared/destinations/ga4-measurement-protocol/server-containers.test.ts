import { describe, expect, it } from 'vitest';
import type { OutboundEvent } from '../sdk/destination.ts';
import { sampleEvent } from '../sdk/sample-event.ts';
import { floodlightSgtm, ga4ServerProxy, googleAdsServerContainer } from './server-containers.ts';

const order = {
  order_id: 'A-1',
  value: 47.5,
  currency: 'eur',
  products: [{ product_id: 'tea-1', name: 'Tea', price: 23.75, quantity: 2 }],
};

describe.each([
  ['GA4ServerProxy', ga4ServerProxy],
  ['GoogleAdsServerContainer', googleAdsServerContainer],
  ['FloodlightSGTM', floodlightSgtm],
])('%s', (id, kind) => {
  const prepared = kind.prepare({
    baseUrl: 'https://metrics.example.com/gtm/',
    measurementId: 'G-EXAMPLE123',
    apiSecret: 'a secret&more',
  });

  it('request: complete events are sent to the container in the format of the Measurement Protocol', () => {
    expect(kind.descriptor.id).toBe(id);
    const click = { gclid: 'Cj0KCQ-example', dclid: 'example-dclid' };
    const events: OutboundEvent[] = ['1', '2'].map((eventId) => ({
      resolved: sampleEvent({ id: eventId, event_properties: { ...order, ...click } }),
    }));
    const { method, url, headers, body } = prepared.buildRequest(events, 0);
    expect({ method, url }).toEqual({
      method: 'POST',
      url: 'https://metrics.example.com/gtm/mp/collect?measurement_id=G-EXAMPLE123&api_secret=a+secret%26more',
    });
    expect(headers['content-type']).toBe('application/json');
    const purchase = {
      name: 'purchase',
      timestamp_micros: 1_700_000_000_000_000,
      params: {
        engagement_time_msec: 1,
        page_location: 'https://shop.example.com/thanks?utm_source=mail',
        transaction_id: 'A-1',
        value: 47.5,
        currency: 'EUR',
        items: [{ item_id: 'tea-1', item_name: 'Tea', price: 23.75, quantity: 2 }],
        // The click ids by which the container's tags attribute the event.
        ...click,
      },
    };
    expect(JSON.parse(body ?? '')).toEqual({
      client_id: 'sample-visitor',
      user_id: 'customer-7',
      ip_override: '203.0.113.7',
      user_agent: 'Mozilla/5.0 (X11; Linux x86_64)',
      events: [purchase, purchase],
    });
  });

  it('accepts: any event except $identify', () => {
    expect(prepared.accepts?.({ resolved: sampleEvent({ event: 'Quiz Finished' }) })).toBe(true);
    expect(prepared.accepts?.({ resolved: sampleEvent({ event: '$identify' }) })).toBe(false);
  });

  it('settings: a missing required setting is named, and the base URL is a listed address', () => {
    for (const key of ['baseUrl', 'measurementId', 'apiSecret']) {
      expect(() => kind.prepare({ ...kind.exampleSettings, [key]: null })).toThrow(`settings.${key} is required`);
    }
    expect(kind.addresses({ baseUrl: 'https://a.example' })).not.toEqual(
      kind.addresses({ baseUrl: 'https://b.example' }),
    );
  });
});
