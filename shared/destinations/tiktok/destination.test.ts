import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { OutboundEvent } from '../sdk/destination.ts';
import { sampleShopper, sampleStranger, withoutId } from '../testing/sample-shopper.ts';
import { tiktok } from './destination.ts';

const settings = { pixelCode: 'C1A2B3', accessToken: 'example-token' };
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

function sent(event: OutboundEvent, more: Readonly<Record<string, unknown>> = {}) {
  const request = tiktok.prepare({ ...settings, ...more }).buildRequest([event], 0);
  return { request, body: JSON.parse(request.body ?? '') as { data: Record<string, unknown>[] } };
}

function outcomes(status: number, body: unknown, count = 3) {
  const events = Array.from({ length: count }, () => sampleShopper());
  const answer = { status, headers: {}, body: JSON.stringify(body) };
  return tiktok.prepare(settings).readAnswer?.(answer, events);
}

const kinds = (...said: Parameters<typeof outcomes>) => outcomes(...said)?.map((outcome) => outcome.kind);

describe('TikTok', () => {
  it('request: a purchase as the Events API documents it', () => {
    const visitor = { city: 'St. Ives', state: 'California', zip: '94 107' };
    const context = {
      current_url: 'https://shop.example.com/thanks?ttclid=E.C.P.abc',
      referrer: 'https://shop.example.com/cart',
      ip: '203.0.113.7',
      user_agent: 'Example/1.0',
      _ttp: '2F7h37YkS1j57AYSKTI7IHhJPYH',
    };
    const { request, body } = sent(sampleShopper({ visitor, context }));
    expect(request).toMatchObject({
      method: 'POST',
      url: 'https://business-api.tiktok.com/open_api/v1.3/event/track/',
      headers: { 'access-token': 'example-token', 'content-type': 'application/json' },
    });
    expect(body).toEqual({
      event_source: 'web',
      event_source_id: 'C1A2B3',
      data: [
        {
          event: 'Purchase',
          event_time: 1_700_000_000,
          event_id: 'order-event-1',
          user: {
            email: [sha256('ada@example.com')],
            phone: [sha256('+448444124653')],
            external_id: [sha256('customer-7')],
            first_name: sha256('ada'),
            last_name: sha256('lovelace'),
            zip_code: sha256('94107'),
            city: 'stives',
            state: 'ca',
            country: 'gb',
            ttclid: 'E.C.P.abc',
            ttp: '2F7h37YkS1j57AYSKTI7IHhJPYH',
            ip: '203.0.113.7',
            user_agent: 'Example/1.0',
          },
          properties: {
            value: 42.5,
            currency: 'EUR',
            order_id: 'A-1001',
            content_type: 'product',
            content_ids: ['tea-1'],
            contents: [
              {
                content_id: 'tea-1',
                content_name: 'Tea',
                content_category: 'Drinks',
                brand: 'Leaf',
                price: 21.25,
                quantity: 2,
              },
            ],
            num_items: 2,
          },
          page: { url: context.current_url, referrer: 'https://shop.example.com/cart' },
        },
      ],
    });
  });

  it('settings: event source and test code are sent; a custom event keeps its name', () => {
    const event = sampleShopper({ event: 'Quiz Finished', properties: { lead_id: '77' } });
    const { body } = sent(event, { eventSource: 'crm', testEventCode: 'TEST1' });
    expect(body).toMatchObject({
      event_source: 'crm',
      test_event_code: 'TEST1',
      data: [{ event: 'Quiz Finished', lead: { lead_id: '77' } }],
    });
  });

  it('unfit: an event whose visitor cannot be matched', () => {
    expect(() => sent(withoutId(sampleStranger()))).toThrow('the event has no identifier');
    expect(tiktok.prepare(settings).accepts?.(sampleShopper({ event: '$identify' }))).toBe(false);
  });

  it('answer: with status 200 the code in the body decides the outcome', () => {
    expect(kinds(200, { code: 0, message: 'OK' })).toEqual(['delivered', 'delivered', 'delivered']);
    expect(kinds(200, { code: 40_100, message: 'Too many requests' })).toEqual(['retry', 'retry', 'retry']);
    expect(outcomes(200, { code: 40_100 }, 1)).toEqual([{ kind: 'retry', reason: 'code 40100', isThrottled: true }]);
    expect(kinds(200, { code: 51_000 }, 1)).toEqual(['retry']);
    for (const code of [40_001, 40_102, 40_104, 40_105]) {
      expect(outcomes(200, { code, message: 'No permission' }, 1)).toEqual([
        { kind: 'retry', reason: `code ${code}`, refusesAccess: true },
      ]);
    }
    const invalid = { kind: 'reject', reason: 'code 40002', unnamed: 'any' };
    expect(outcomes(200, { code: 40_002, message: 'Invalid' }, 2)).toEqual([invalid, invalid]);
    const partial = { kind: 'reject', reason: 'code 20001', unnamed: 'some' };
    expect(outcomes(200, { code: 20_001, message: 'Partial success' }, 2)).toEqual([partial, partial]);
    expect(kinds(502, { code: 0 })).toBeUndefined();
    expect(kinds(200, 'no code', 1)).toEqual(['retry']);
  });

  it('answer: if it names the event at fault, the other events are retried', () => {
    const message = 'Batch.1.properties.contents.0.content_id: Not a valid string';
    expect(kinds(200, { code: 40_002, message })).toEqual(['retry', 'reject', 'retry']);
  });
});
