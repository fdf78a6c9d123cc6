import { describe, expect, it } from 'vitest';
import { UnfitEventError } from '../sdk/destination.ts';
import type { OutboundEvent } from '../sdk/destination.ts';
import { sampleEvent } from '../sdk/sample-event.ts';
import { klaviyo } from './destination.ts';

const key = { privateApiKey: 'pk_1' };
const track = { resolved: sampleEvent() };
const visitor = {
  ...sampleEvent().visitor,
  phone_number: '+49 30 123456',
  city: 'Berlin',
  state: 'BE',
  company_name: 'ACME',
};
const identify = { resolved: { ...sampleEvent({ event: '$identify', event_properties: {} }), visitor } };
const bodyOf = (event: OutboundEvent): unknown => JSON.parse(klaviyo.prepare(key).buildRequest([event], 0).body ?? '');

describe('Klaviyo', () => {
  it('track: creates an event of a metric for a profile', () => {
    const request = klaviyo.prepare(key).buildRequest([track], 0);
    expect(request).toMatchObject({
      method: 'POST',
      url: 'https://a.klaviyo.com/api/events',
      headers: {
        authorization: 'Klaviyo-API-Key pk_1',
        'content-type': 'application/vnd.api+json',
        accept: 'application/vnd.api+json',
        revision: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      },
    });
    expect(bodyOf(track)).toEqual({
      data: {
        type: 'event',
        attributes: {
          properties: { order_id: 'A-1001', value: 42.5, currency: 'EUR' },
          time: '2023-11-14T22:13:20.000Z',
          value: 42.5,
          value_currency: 'EUR',
          unique_id: 'sample-event-1',
          metric: { data: { type: 'metric', attributes: { name: 'Placed Order' } } },
          profile: {
            data: {
              type: 'profile',
              attributes: { external_id: 'customer-7', anonymous_id: 'sample-visitor', email: 'ada@example.com' },
            },
          },
        },
      },
    });
  });

  it('track: one event per request, its name cut to the length that Klaviyo accepts', () => {
    expect(klaviyo.prepare(key).batchEventsMax).toBe(1);
    const name = 'n'.repeat(200);
    expect(bodyOf({ resolved: sampleEvent({ event: name }) })).toMatchObject({
      data: { attributes: { metric: { data: { attributes: { name: 'n'.repeat(127) } } } } },
    });
  });

  it('track: an event more than a day old is sent as backfill, which starts no flow', () => {
    const at = (hours: number) =>
      klaviyo.prepare(key).buildRequest([track], 1_700_000_000_000 + hours * 3_600_000).body ?? '';
    expect(at(23)).not.toContain('backfill');
    expect(JSON.parse(at(25))).toMatchObject({ data: { attributes: { backfill: true } } });
  });

  it('track: the products of an order more than a day old are sent as backfill too', () => {
    const order = { resolved: sampleEvent({ event_properties: { products: [{ product_id: 'p1' }] } }) };
    const at = (hours: number) =>
      klaviyo.prepare(key).buildRequest([order], 1_700_000_000_000 + hours * 3_600_000).next?.body ?? '';
    expect(at(23)).toContain('Ordered Product');
    expect(at(23)).not.toContain('backfill');
    expect(JSON.parse(at(25)).data.attributes['events-bulk-create'].data).toMatchObject([
      { attributes: { backfill: true } },
    ]);
  });

  it('identify: creates or updates the profile', () => {
    expect(klaviyo.prepare(key).buildRequest([identify], 0).url).toBe('https://a.klaviyo.com/api/profile-import');
    expect(bodyOf(identify)).toEqual({
      data: {
        type: 'profile',
        attributes: {
          external_id: 'customer-7',
          anonymous_id: 'sample-visitor',
          email: 'ada@example.com',
          phone_number: '+4930123456',
          first_name: 'Ada',
          organization: 'ACME',
          location: { city: 'Berlin', region: 'BE' },
          properties: { plan: 'pro' },
        },
      },
    });
  });

  it('unfit: a visitor without any identifier that Klaviyo accepts', () => {
    const resolved = { ...sampleEvent(), visitor: { id: 'v1', phone_number: '123', custom_properties: {} } };
    expect(() => klaviyo.prepare(key).buildRequest([{ resolved }], 0)).toThrow(UnfitEventError);
  });

  it('settings: the key must fit in a header', () => {
    expect(() => klaviyo.prepare({ privateApiKey: 'a\nb' })).toThrow('settings.privateApiKey ');
  });
});
