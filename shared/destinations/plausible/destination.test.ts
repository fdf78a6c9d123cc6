import { describe, expect, it } from 'vitest';
import { sampleEvent } from '../sdk/sample-event.ts';
import { plausible } from './destination.ts';

const prepared = plausible.prepare({ domain: 'shop.example.com' });
const context = { current_url: 'https://shop.example.com/thanks', ip: '203.0.113.7', user_agent: 'Mozilla/5.0 (X11)' };
const request = (own: Parameters<typeof sampleEvent>[0] = {}) =>
  prepared.buildRequest([{ resolved: sampleEvent({ context, ...own }) }], 0);
const bodyOf = (own: Parameters<typeof sampleEvent>[0] = {}): unknown => JSON.parse(request(own).body ?? '');

describe('Plausible', () => {
  it('request: an event with the browser and the address of its visitor', () => {
    expect(request()).toMatchObject({
      method: 'POST',
      url: 'https://plausible.io/api/event',
      headers: {
        'user-agent': 'Mozilla/5.0 (X11)',
        'x-forwarded-for': '203.0.113.7',
        'content-type': 'application/json',
      },
    });
    expect(bodyOf()).toEqual({
      domain: 'shop.example.com',
      name: 'Order Completed',
      url: 'https://shop.example.com/thanks',
      props: { order_id: 'A-1001', value: 42.5 },
      revenue: { currency: 'EUR', amount: 42.5 },
    });
  });

  it.each(['Page View', 'page_viewed', 'pageview'])('%s: is sent as a pageview', (event) => {
    expect(bodyOf({ event, event_properties: {} })).toEqual({
      domain: 'shop.example.com',
      name: 'pageview',
      url: 'https://shop.example.com/thanks',
    });
  });

  it('properties: nested values are left out, and number and length are limited to what Plausible accepts', () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`p${i}`, i]));
    const { props } = bodyOf({
      event_properties: { nested: { a: 1 }, list: [1], long: 'x'.repeat(3_000), ...many },
    }) as {
      props: Record<string, unknown>;
    };
    expect(Object.keys(props)).toHaveLength(30);
    expect(props['long']).toBe('x'.repeat(2_000));
    expect(props).not.toHaveProperty('nested');
  });

  it('visitor: an event without a browser is refused, an event without an IP address is sent', () => {
    expect(() => request({ context: { ip: '203.0.113.7' } })).toThrow('no valid user agent');
    expect(() => request({ context: { user_agent: 'a\r\nb: c' } })).toThrow('no valid user agent');
    expect(request({ context: { user_agent: 'a', ip: '1.2.3.4, x' } }).headers).not.toHaveProperty('x-forwarded-for');
  });

  it('accepts: an identify event is not sent', () => {
    expect(prepared.accepts?.({ resolved: sampleEvent({ event: '$identify' }) })).toBe(false);
    expect(prepared.accepts?.({ resolved: sampleEvent() })).toBe(true);
  });

  it('answer: an event that Plausible dropped counts as dropped, not as failed', () => {
    const one = [{ resolved: sampleEvent() }];
    const dropped = { status: 202, headers: { 'x-plausible-dropped': '1' }, body: 'ok' };
    expect(prepared.readAnswer?.(dropped, one)?.map(({ kind }) => kind)).toEqual(['dropped']);
    expect(prepared.readAnswer?.({ ...dropped, headers: {} }, one)).toBeUndefined();
  });
});
