import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { OutboundEvent } from '../sdk/destination.ts';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { pinterest } from './destination.ts';

const settings = { adAccountId: '549755885175', conversionToken: 'example-token' };
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

function sent(event: OutboundEvent, more: Readonly<Record<string, unknown>> = {}) {
  const request = pinterest.prepare({ ...settings, ...more }).buildRequest([event], 0);
  return { request, body: JSON.parse(request.body ?? '') as { data: Record<string, unknown>[] } };
}

function readAnswer(status: number, body: unknown) {
  const answer = { status, headers: {}, body: JSON.stringify(body) };
  const events = [sampleShopper(), sampleShopper()];
  return pinterest
    .prepare(settings)
    .readAnswer?.(answer, events)
    ?.map(({ kind }) => kind);
}

describe('Pinterest', () => {
  it('request: a checkout as the API for Conversions documents it', () => {
    const visitor = { gender: 'Female', date_of_birth: '1915-12-10', last_name: "O'Hara" };
    const context = {
      current_url: 'https://shop.example.com/thanks?epik=dj0yJn',
      ip: '203.0.113.7',
      user_agent: 'Example/1.0',
    };
    const { request, body } = sent(sampleShopper({ visitor, context }));
    expect(request).toMatchObject({
      method: 'POST',
      url: 'https://api.pinterest.com/v5/ad_accounts/549755885175/events',
      headers: { authorization: 'Bearer example-token' },
    });
    expect(body).toEqual({
      data: [
        {
          event_name: 'checkout',
          action_source: 'web',
          event_time: 1_700_000_000,
          event_id: 'order-event-1',
          event_source_url: context.current_url,
          user_data: {
            em: [sha256('ada@example.com')],
            ph: [sha256('448444124653')],
            ge: [sha256('f')],
            db: [sha256('19151210')],
            fn: [sha256('ada')],
            ln: [sha256("o'hara")],
            country: [sha256('gb')],
            external_id: [sha256('customer-7')],
            click_id: 'dj0yJn',
            client_ip_address: '203.0.113.7',
            client_user_agent: 'Example/1.0',
          },
          custom_data: {
            currency: 'EUR',
            value: '42.5',
            content_ids: ['tea-1'],
            contents: [
              {
                id: 'tea-1',
                item_name: 'Tea',
                item_category: 'Drinks',
                item_brand: 'Leaf',
                item_price: '21.25',
                quantity: 2,
              },
            ],
            num_items: 2,
            order_id: 'A-1001',
          },
        },
      ],
    });
  });

  it.each([
    ['Product Viewed', 'page_visit'],
    ['Checkout Started', 'initiate_checkout'],
    ['Signed Up', 'signup'],
    ['Watch Video', 'watch_video'],
    ['store_visit', 'custom'],
    ['Quiz Finished', 'custom'],
  ])('name: %s is sent as %s', (event, name) => {
    expect(sent(sampleShopper({ event })).body.data[0]).toMatchObject({ event_name: name });
  });

  it('name: a type that the advertiser defined is sent unchanged, as is a mapped name in Pinterest’s form', () => {
    const nameOf = (event: OutboundEvent, more = {}) => sent(event, more).body.data[0]?.event_name;
    const level = sampleShopper({ event: 'level_completed' });
    expect(nameOf(level)).toBe('custom');
    expect(nameOf(level, { ownEvents: 'level_completed, quote_asked' })).toBe('level_completed');
    const mapped = (eventName: string) => ({ ...level, mapped: { eventName, properties: {} } });
    expect(nameOf(mapped('quote_asked'))).toBe('quote_asked');
    expect(nameOf(mapped('Order Completed'))).toBe('custom');
    expect(() => pinterest.prepare({ ...settings, ownEvents: 'Level Completed' })).toThrow('settings.ownEvents ');
  });

  it('person: any other gender is sent as n, and a postal code with letters is left out', () => {
    const told = (visitor: Readonly<Record<string, unknown>>): unknown =>
      sent(sampleShopper({ visitor })).body.data[0]?.['user_data'];
    expect(told({ gender: 'non-binary', zip: '10001-1234' })).toMatchObject({
      ge: [sha256('n')],
      zp: [expect.stringMatching(/^[0-9a-f]{64}$/)],
    });
    expect(told({ gender: 'F', zip: 'SW1A 1AA' })).not.toHaveProperty('zp');
  });

  it('settings: test mode and action source', () => {
    const { request, body } = sent(sampleShopper(), { testMode: true, actionSource: 'offline' });
    expect(request.url).toMatch(/\/events\?test=true$/);
    expect(body.data[0]).toMatchObject({ action_source: 'offline' });
  });

  it('unfit: an event without an e-mail address, unless it has both an IP address and a User-Agent', () => {
    expect(() => sent(sampleStranger())).toThrow('Pinterest needs');
    const { resolved } = sampleStranger();
    const browser = { ip: '203.0.113.7', user_agent: 'Example/1.0' };
    const event = { resolved: { ...resolved, event: { ...resolved.event, context: browser } } };
    expect(sent(event).body.data[0]?.['user_data']).toEqual({
      external_id: [sha256('stranger')],
      client_ip_address: '203.0.113.7',
      client_user_agent: 'Example/1.0',
    });
    expect(pinterest.prepare(settings).accepts?.(sampleShopper({ event: '$identify' }))).toBe(false);
  });

  it('answer: each event gets the outcome of its row, also from the details of a 422', () => {
    const events = [{ status: 'processed' }, { status: 'failed', error_message: 'no' }];
    expect(readAnswer(200, { num_events_received: 2, events })).toEqual(['delivered', 'reject']);
    expect(readAnswer(422, { code: 1, message: 'x', details: { events } })).toEqual(['delivered', 'reject']);
    expect(readAnswer(200, { events: [{ status: 'processed' }] })).toBeUndefined();
    expect(readAnswer(500, { events })).toBeUndefined();
    expect(readAnswer(401, { code: 2, message: 'Authentication failed.' })).toBeUndefined();
  });
});
