import { describe, expect, it } from 'vitest';
import type { OutboundAnswer } from '../sdk/destination.ts';
import { sampleEvent } from '../sdk/sample-event.ts';
import { amplitude } from './destination.ts';

const key = { apiKey: 'key' };
const track = { resolved: sampleEvent() };
const identify = { resolved: sampleEvent({ id: 'i1', event: '$identify', event_properties: {} }) };
const answer = (status: number, body: unknown): OutboundAnswer => ({ status, headers: {}, body: JSON.stringify(body) });

describe('Amplitude', () => {
  it('track: an event with its ids, its time in ms and its properties', () => {
    const request = amplitude.prepare(key).buildRequest([track], 0);
    expect(request).toMatchObject({ method: 'POST', url: 'https://api2.amplitude.com/2/httpapi' });
    expect(JSON.parse(request.body ?? '')).toEqual({
      api_key: 'key',
      options: { min_id_length: 1 },
      events: [
        {
          user_id: 'customer-7',
          device_id: 'sample-visitor',
          event_type: 'Order Completed',
          time: 1_700_000_000_000,
          insert_id: 'sample-event-1',
          ip: '203.0.113.7',
          user_agent: 'Mozilla/5.0 (X11; Linux x86_64)',
          platform: 'Web',
          revenue: 42.5,
          user_properties: { $set: { email: 'ada@example.com', first_name: 'Ada', plan: 'pro' } },
          event_properties: {
            order_id: 'A-1001',
            value: 42.5,
            currency: 'EUR',
            current_url: 'https://shop.example.com/thanks?utm_source=mail',
          },
        },
      ],
    });
  });

  it('track: revenue is also sent in Amplitude’s own field', () => {
    const resolved = sampleEvent({ event_properties: { revenue: '19.90' } });
    const body = JSON.parse(amplitude.prepare(key).buildRequest([{ resolved }], 0).body ?? '');
    expect(body.events[0]).toMatchObject({ revenue: 19.9, event_properties: { revenue: '19.90' } });
  });

  it('track: a mapping alone decides what is sent', () => {
    const mapped = { eventName: 'Purchase', properties: { total: 1 } };
    const body = JSON.parse(amplitude.prepare(key).buildRequest([{ ...track, mapped }], 0).body ?? '');
    expect(body.events[0]).toMatchObject({ event_type: 'Purchase', event_properties: { total: 1 } });
    expect(body.events[0]).not.toHaveProperty('ip');
    expect(body.events[0].event_properties).not.toHaveProperty('current_url');
  });

  it('identify: sets user properties', () => {
    const body = JSON.parse(amplitude.prepare(key).buildRequest([identify], 0).body ?? '');
    expect(body.events[0]).toMatchObject({
      event_type: '$identify',
      user_id: 'customer-7',
      insert_id: 'i1',
      user_properties: { $set: { email: 'ada@example.com', first_name: 'Ada', plan: 'pro' } },
    });
    expect(body.events[0]).not.toHaveProperty('event_properties');
  });

  it('settings: the region and the base URL decide the address', () => {
    const urlOf = (settings: Record<string, unknown>) => amplitude.prepare(settings).buildRequest([track], 0).url;
    expect(urlOf({ ...key, region: 'EU' })).toBe('https://api.eu.amplitude.com/2/httpapi');
    expect(urlOf({ ...key, baseUrl: 'https://proxy.example.com/a/' })).toBe('https://proxy.example.com/a/2/httpapi');
    expect(() => amplitude.prepare({ ...key, region: 'XX' })).toThrow('settings.region ');
  });

  it('answer: a single event is refused with the name of the invalid field', () => {
    const invalid = { code: 400, error: 'Invalid fields', events_with_invalid_fields: { time: [0] } };
    expect(amplitude.prepare(key).readAnswer?.(answer(400, invalid), [track])).toEqual([
      { kind: 'reject', reason: 'row refused: time' },
    ]);
    const silenced = { code: 400, silenced_events: [0] };
    expect(amplitude.prepare(key).readAnswer?.(answer(400, silenced), [track])).toEqual([
      { kind: 'reject', reason: 'row refused: silenced' },
    ]);
  });

  it('answer: if only some events are invalid, smaller batches decide', () => {
    const body = { code: 400, events_with_missing_fields: { event_type: [1] } };
    expect(amplitude.prepare(key).readAnswer?.(answer(400, body), [track, track])).toBeUndefined();
    const ids = { code: 400, events_with_invalid_id_lengths: { user_id: [1] } };
    expect(amplitude.prepare(key).readAnswer?.(answer(400, ids), [track, track])).toBeUndefined();
  });

  it('answer: a refused row rejects its event, which may have several rows', () => {
    const products = [1, 2].map((price) => ({ product_id: `p${price}`, price }));
    const order = { resolved: sampleEvent({ event_properties: { products } }) };
    const prepared = amplitude.prepare({ ...key, revenueOf: 'products' });
    const body = { code: 400, events_with_invalid_fields: { price: [1], quantity: [5] } };
    expect(prepared.readAnswer?.(answer(400, body), [order, order])).toMatchObject([
      { kind: 'reject', reason: 'row refused: price' },
      { kind: 'reject', reason: 'row refused: quantity' },
    ]);
    const many = Array.from({ length: 2_000 }, (_, index) => ({ product_id: `p${index}`, price: 1 }));
    const large = { resolved: sampleEvent({ event_properties: { products: many } }) };
    expect(() => prepared.buildRequest([large], 0)).toThrow('more than 2000 products');
  });

  it('answer: a request refused as a whole is not split; if its key is invalid, the destination is paused', () => {
    const read = (body: unknown) => amplitude.prepare(key).readAnswer?.(answer(400, body), [track, track]);
    const refused = { kind: 'retry', reason: 'row refused: request', refusesAccess: true };
    expect(read({ code: 400, error: 'Invalid API key: key' })).toEqual([refused, refused]);
    expect(read({ code: 400, error: 'Request missing required field', missing_field: 'api_key' })).toMatchObject([
      { refusesAccess: true },
      { refusesAccess: true },
    ]);
    expect(read({ code: 400, missing_field: 'events' })).toEqual([
      { kind: 'reject', reason: 'row refused: request: events' },
      { kind: 'reject', reason: 'row refused: request: events' },
    ]);
  });

  it('answer: a 429 names events, users and devices; only their events wait, and the others are sent again', () => {
    const events = ['a', 'b', 'c', 'd', 'e'].map((id) => {
      const { visitor, ...resolved } = sampleEvent({ id });
      return { resolved: { ...resolved, visitor: { ...visitor, id: `device-${id}`, external_id: `user-${id}` } } };
    });
    const body = {
      code: 429,
      error: 'Too many requests for some devices and users',
      eps_threshold: 30,
      throttled_users: { 'user-a': 40 },
      throttled_devices: {},
      exceeded_daily_quota_users: {},
      exceeded_daily_quota_devices: { 'device-c': 500_200 },
      throttled_events: [0, 3],
    };
    const waits = { kind: 'retry', reason: 'the user or device is throttled', afterMs: 30_000 };
    const again = { kind: 'retry', reason: 'status 429', unnamed: 'some' };
    const read = (said: unknown) => amplitude.prepare(key).readAnswer?.(answer(429, said), events);
    expect(read(body)).toEqual([waits, again, waits, waits, again]);
    expect(read({ code: 429, throttled_events: [9, 'x'], throttled_users: ['user-a'] })).toBeUndefined();
  });

  it('answer: for other statuses, and a 429 without names, the status alone decides', () => {
    expect(amplitude.prepare(key).readAnswer?.(answer(429, { code: 429 }), [track])).toBeUndefined();
    expect(amplitude.prepare(key).readAnswer?.(answer(200, { code: 200 }), [track])).toBeUndefined();
  });
});
