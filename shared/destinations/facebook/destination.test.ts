import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { OutboundEvent } from '../sdk/destination.ts';
import { sampleShopper, sampleStranger, withoutId } from '../testing/sample-shopper.ts';
import { facebook } from './destination.ts';

const settings = { pixelId: '1234567890', accessToken: 'example-token' };
const eventMs = 1_700_000_000_000;
const nowMs = eventMs + 60_000;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

function sent(event: OutboundEvent, more: Readonly<Record<string, unknown>> = {}) {
  const request = facebook.prepare({ ...settings, ...more }).buildRequest([event], nowMs);
  return {
    request,
    body: JSON.parse(request.body ?? '') as { data: Record<string, unknown>[]; test_event_code?: string },
  };
}

describe('Facebook', () => {
  it('request: a purchase as the Conversions API documents it', () => {
    const { request, body } = sent(sampleShopper());
    expect(request).toMatchObject({ method: 'POST', url: 'https://graph.facebook.com/v27.0/1234567890/events' });
    expect(request.headers).toMatchObject({
      authorization: 'Bearer example-token',
      'content-type': 'application/json',
    });
    expect(body).toEqual({
      data: [
        {
          event_name: 'Purchase',
          event_time: 1_700_000_000,
          event_id: 'order-event-1',
          action_source: 'website',
          event_source_url: 'https://shop.example.com/thanks',
          user_data: {
            em: [sha256('ada@example.com')],
            ph: [sha256('448444124653')],
            fn: [sha256('ada')],
            ln: [sha256('lovelace')],
            country: [sha256('gb')],
            external_id: [sha256('customer-7')],
            client_ip_address: '203.0.113.7',
            client_user_agent: 'Example/1.0',
          },
          custom_data: {
            value: 42.5,
            currency: 'EUR',
            order_id: 'A-1001',
            content_ids: ['tea-1'],
            content_type: 'product',
            contents: [{ id: 'tea-1', quantity: 2, item_price: 21.25 }],
            num_items: 2,
          },
        },
      ],
    });
  });

  it('settings: test code, API version, base URL and action source', () => {
    const more = { testEventCode: 'TEST1', apiVersion: 'v26.0', baseUrl: 'http://127.0.0.1:9/x/', actionSource: 'app' };
    const { request, body } = sent(sampleShopper({ context: { os_name: 'iOS' } }), more);
    expect(request.url).toBe('http://127.0.0.1:9/x/v26.0/1234567890/events');
    expect(body).toMatchObject({ test_event_code: 'TEST1', data: [{ action_source: 'app' }] });
    expect(() => facebook.prepare({ ...settings, apiVersion: '../v27.0' })).toThrow('settings.apiVersion');
    expect(() => sent(sampleShopper(), more)).toThrow('operating system');
    expect(() => facebook.prepare({ ...settings, accessToken: 'a\nb' })).toThrow('settings.accessToken');
  });

  it('click: fbc and fbp are sent unchanged; without fbc, the click id makes one', () => {
    const cookies = sampleShopper({ context: { _fbp: 'fb.1.1596403881668.1116446470', fbc: 'fb.1.2.Abc' } });
    expect(sent(cookies).body.data[0]?.['user_data']).toMatchObject({
      fbp: 'fb.1.1596403881668.1116446470',
      fbc: 'fb.1.2.Abc',
    });
    const click = sampleShopper({ context: { current_url: 'https://shop.example.com/?fbclid=AbC-9' } });
    expect(sent(click).body.data[0]?.['user_data']).toMatchObject({ fbc: `fb.1.${eventMs}.AbC-9` });
    const earlier = { ...click.resolved.visitor, fbc: 'fb.1.2.Old' };
    const again = { resolved: { ...click.resolved, visitor: earlier } };
    expect(sent(again).body.data[0]?.['user_data']).toMatchObject({ fbc: `fb.1.${eventMs}.AbC-9` });
  });

  it('name: a custom event keeps its name, and a mapping may give it another name', () => {
    const custom = sampleShopper({ event: 'Quiz Finished', properties: { action_source: 'chat' } });
    expect(sent(custom).body.data[0]).toMatchObject({ event_name: 'Quiz Finished', action_source: 'chat' });
    const mapped = { ...custom, mapped: { eventName: 'Lead', properties: { value: 3, currency: 'USD' } } };
    expect(sent(mapped).body.data[0]).toMatchObject({ event_name: 'Lead', custom_data: { value: 3, currency: 'USD' } });
  });

  it('events: the service’s own events are skipped, unless a mapping renames them', () => {
    const prepared = facebook.prepare(settings);
    const identify = sampleShopper({ event: '$identify' });
    expect(prepared.accepts?.(identify)).toBe(false);
    expect(prepared.accepts?.({ ...identify, mapped: { eventName: 'Lead', properties: {} } })).toBe(true);
    expect(prepared.accepts?.(sampleShopper())).toBe(true);
  });

  it('unfit: an event that cannot be matched, is too old, or is a purchase without a price', () => {
    expect(() => sent(withoutId(sampleStranger()))).toThrow('the event has no identifier');
    expect(() => sent(sampleShopper({ time: nowMs - 8 * 86_400_000 }))).toThrow('older than 7 days');
    expect(() => sent(sampleShopper({ properties: { currency: 'EUR' } }))).toThrow('a value and a currency');
    const inStore = sampleShopper({ time: nowMs - 8 * 86_400_000, event: 'Visit' });
    expect(sent(inStore, { actionSource: 'physical_store' }).body.data).toHaveLength(1);
  });

  it('action source: is website if the event has a page and a browser, else system_generated, unless it is set', () => {
    const sourceOf = (context: Record<string, unknown>, properties = {}, more = {}) =>
      sent(sampleShopper({ event: 'Visit', context, properties }), more).body.data[0]?.['action_source'];
    const page = { current_url: 'https://shop.example.com/', ip: '203.0.113.7' };
    expect(sourceOf({ ...page, user_agent: 'Example/1.0' })).toBe('website');
    expect(sourceOf(page)).toBe('system_generated');
    expect(sourceOf({ user_agent: 'Example/1.0' })).toBe('system_generated');
    expect(sourceOf({}, { action_source: 'website' })).toBe('website');
    expect(sourceOf({}, {}, { actionSource: 'email' })).toBe('email');
  });

  it.each([
    [200, { events_received: 2 }, undefined],
    [400, { error: { code: 4 } }, 'throttled'],
    [400, { error: { code: 80_004 } }, 'throttled'],
    [400, { error: { code: 2 } }, 'retry'],
    [400, { error: { code: 100, is_transient: true } }, 'retry'],
    [400, { error: { code: 341 } }, 'throttled'],
    [400, { error: { code: 368 } }, 'retry'],
    [400, { error: { code: 5_000 } }, 'retry'],
    [400, { error: { code: 21_009 } }, 'retry'],
    [400, { error: { code: 190, message: 'token of person@example.com' } }, 'access'],
    [400, { error: { code: 200 } }, 'access'],
    [400, { error: { code: 100, error_subcode: 33 } }, 'access'],
    [400, { error: { code: 100 } }, undefined],
    [400, { error: { code: 100, error_subcode: 2_804_003 } }, undefined],
    [500, 'no json', undefined],
  ])('answer: %s with %o is %s', (status, body, kind) => {
    const events = [sampleShopper(), sampleShopper()];
    const answer = { status, headers: {}, body: JSON.stringify(body) };
    const outcomes = facebook.prepare(settings).readAnswer?.(answer, events);
    const said = outcomes?.map((outcome) => {
      if (outcome.kind !== 'retry') return outcome.kind;
      if (outcome.refusesAccess === true) return 'access';
      return outcome.isThrottled === true ? 'throttled' : 'retry';
    });
    expect(said).toEqual(kind === undefined ? undefined : [kind, kind]);
    expect(JSON.stringify(outcomes ?? [])).not.toContain('person@');
  });
});
