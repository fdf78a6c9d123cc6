import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { OutboundEvent } from '../sdk/destination.ts';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { snapchatAdsCapi } from './destination.ts';

const settings = { pixelId: '1ec32188-754e-4be2-8e55-c949a984a39f', accessToken: 'example/token' };
const nowMs = 1_700_000_060_000;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

function sent(event: OutboundEvent, more: Readonly<Record<string, unknown>> = {}) {
  const request = snapchatAdsCapi.prepare({ ...settings, ...more }).buildRequest([event], nowMs);
  return { request, body: JSON.parse(request.body ?? '') as { data: Record<string, unknown>[] } };
}

describe('SnapchatAdsCapi', () => {
  it('request: a purchase as version 3 of the Conversions API documents it', () => {
    const context = {
      current_url: 'https://shop.example.com/thanks?ScCid=click-1',
      ip: '203.0.113.7',
      user_agent: 'Example/1.0',
      _scid: 'cookie-1',
    };
    const { request, body } = sent(sampleShopper({ context }));
    expect(request).toMatchObject({
      method: 'POST',
      url: `https://tr.snapchat.com/v3/${settings.pixelId}/events?access_token=example%2Ftoken`,
    });
    expect(body).toEqual({
      data: [
        {
          event_name: 'PURCHASE',
          event_time: 1_700_000_000,
          event_id: 'order-event-1',
          action_source: 'WEB',
          event_source_url: context.current_url,
          user_data: {
            em: [sha256('ada@example.com')],
            ph: [sha256('448444124653')],
            fn: sha256('ada'),
            ln: sha256('lovelace'),
            country: sha256('gb'),
            external_id: [sha256('customer-7')],
            client_ip_address: '203.0.113.7',
            client_user_agent: 'Example/1.0',
            sc_click_id: 'click-1',
            sc_cookie1: 'cookie-1',
          },
          custom_data: {
            value: 42.5,
            currency: 'EUR',
            order_id: 'A-1001',
            content_ids: ['tea-1'],
            content_category: ['Drinks'],
            contents: [{ id: 'tea-1', quantity: 2, item_price: 21.25, brand: 'Leaf' }],
            num_items: 2,
          },
        },
      ],
    });
  });

  it('name: an event without a Snap name is skipped, or sent under the custom name that a setting chooses', () => {
    const quiz = sampleShopper({ event: 'Quiz Finished' });
    expect(snapchatAdsCapi.prepare(settings).accepts?.(quiz)).toBe(false);
    expect(() => sent(quiz)).toThrow('Snap has no name');
    const more = { otherEvents: 'CUSTOM_EVENT_2' };
    expect(snapchatAdsCapi.prepare({ ...settings, ...more }).accepts?.(quiz)).toBe(true);
    expect(sent(quiz, more).body.data[0]).toMatchObject({ event_name: 'CUSTOM_EVENT_2' });
    expect(sent(sampleShopper({ event: 'Product Added' })).body.data[0]).toMatchObject({ event_name: 'ADD_CART' });
  });

  it('events: $identify is skipped, even if a custom name is set for other events', () => {
    const prepared = snapchatAdsCapi.prepare({ ...settings, otherEvents: 'CUSTOM_EVENT_1' });
    expect(prepared.accepts?.(sampleShopper({ event: '$identify' }))).toBe(false);
  });

  it('unfit: an event whose visitor cannot be matched, or that is too old', () => {
    expect(() => sent(sampleStranger())).toThrow('Snap needs');
    expect(() => sent(sampleShopper({ time: nowMs - 38 * 86_400_000 }))).toThrow('older than 37 days');
  });
});
