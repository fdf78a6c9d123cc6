import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { OutboundEvent } from '../sdk/destination.ts';
import { sampleShopper, sampleStranger, withoutId } from '../testing/sample-shopper.ts';
import { reddit } from './destination.ts';

const settings = { pixelId: 'a2_example', conversionToken: 'example-token' };
const nowMs = 1_700_000_060_000;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

function sent(event: OutboundEvent, more: Readonly<Record<string, unknown>> = {}) {
  const request = reddit.prepare({ ...settings, ...more }).buildRequest([event], nowMs);
  const body = JSON.parse(request.body ?? '') as { data: { test_id?: string; events: Record<string, unknown>[] } };
  return { request, body };
}

describe('Reddit', () => {
  it('request: a purchase as version 3 of the Conversions API documents it', () => {
    const context = {
      current_url: 'https://shop.example.com/thanks?rdt_cid=click-1',
      ip: '203.0.113.7',
      user_agent: 'Example/1.0',
      _rdt_uuid: '1684189007728.7c73',
      screen_width: 1920,
      screen_height: '1080',
    };
    const { request, body } = sent(sampleShopper({ context }));
    expect(request).toMatchObject({
      method: 'POST',
      url: 'https://ads-api.reddit.com/api/v3/pixels/a2_example/conversion_events',
      headers: { authorization: 'Bearer example-token' },
    });
    expect(body).toEqual({
      data: {
        events: [
          {
            event_at: 1_700_000_000_000,
            action_source: 'WEBSITE',
            event_source_url: context.current_url,
            click_id: 'click-1',
            type: { tracking_type: 'PURCHASE' },
            user: {
              email: sha256('ada@example.com'),
              phone_number: sha256('+448444124653'),
              external_id: sha256('customer-7'),
              ip_address: sha256('203.0.113.7'),
              user_agent: 'Example/1.0',
              uuid: '1684189007728.7c73',
              screen_dimensions: { width: 1920, height: 1080 },
            },
            metadata: {
              conversion_id: 'order-event-1',
              value: 42.5,
              currency: 'EUR',
              item_count: 2,
              products: [{ id: 'tea-1', name: 'Tea', category: 'Drinks', item_price: 21.25, quantity: 2 }],
            },
          },
        ],
      },
    });
  });

  // Reddit publishes this example with its match keys.
  it.each(['alice@example.com', 'Al.ice$+Apple@Example.Com'])('hash: %s is put in canonical form', (email) => {
    expect(sent(sampleShopper({ visitor: { email } })).body.data.events[0]?.['user']).toMatchObject({
      email: 'ff8d9819fc0e12bf0d24892e45987e249a28dce836a85cad60e28eaaa8c6d976',
    });
  });

  it('name: an event with any other name is a custom event', () => {
    expect(sent(sampleShopper({ event: 'Quiz Finished' })).body.data.events[0]).toMatchObject({
      type: { tracking_type: 'CUSTOM', custom_event_name: 'Quiz Finished' },
    });
  });

  it('settings: test id and action source are sent', () => {
    const { body } = sent(sampleShopper(), { testId: 't2_1', actionSource: 'PHYSICAL_STORE' });
    expect(body.data).toMatchObject({ test_id: 't2_1', events: [{ action_source: 'PHYSICAL_STORE' }] });
    expect(body.data.events[0]).not.toHaveProperty('event_source_url');
  });

  it('unfit: an event whose visitor cannot be matched, or that is too old', () => {
    const stranger = sampleStranger();
    const seen = (context: Readonly<Record<string, unknown>>) => ({
      resolved: { ...stranger.resolved, event: { ...stranger.resolved.event, context } },
    });
    expect(() => sent(withoutId(seen({ user_agent: 'Example/1.0' })))).toThrow('the event has no identifier');
    expect(sent(seen({ rdt_cid: 'click-1' })).body.data.events[0]).toMatchObject({ click_id: 'click-1' });
    expect(() => sent(sampleShopper({ time: nowMs - 8 * 86_400_000 }))).toThrow('older than 7 days');
    expect(reddit.prepare(settings).accepts?.(sampleShopper({ event: '$identify' }))).toBe(false);
  });
});
