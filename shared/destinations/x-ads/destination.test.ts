import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { xAds } from './destination.ts';

const prepared = xAds.prepare(xAds.exampleSettings);
const nowMs = 1_700_000_060_000;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('XAds', () => {
  it('request: a purchase as the API documents it, signed', () => {
    const request = prepared.buildRequest([sampleShopper({ properties: { value: 42.5, currency: 'EUR' } })], nowMs);
    expect(request).toMatchObject({
      method: 'POST',
      url: 'https://ads-api.x.com/12/measurement/conversions/o8z6j',
      headers: { authorization: expect.stringContaining('oauth_timestamp="1700000060"') },
    });
    expect(JSON.parse(request.body ?? '')).toEqual({
      conversions: [
        {
          conversion_time: '2023-11-14T22:13:20.000Z',
          event_id: 'tw-o8z6j-o87ne',
          identifiers: [
            { hashed_email: sha256('ada@example.com') },
            { hashed_phone_number: sha256('+448444124653') },
            { ip_address: '203.0.113.7', user_agent: 'Example/1.0' },
          ],
          conversion_id: 'order-event-1',
          value: '42.5',
          price_currency: 'EUR',
        },
      ],
    });
  });

  it('click: the click id is the first identifier, and products are sent with their names', () => {
    const event = sampleShopper({ context: { current_url: 'https://shop.example.com/?twclid=23op' } });
    const body = JSON.parse(prepared.buildRequest([event], nowMs).body ?? '') as { conversions: unknown[] };
    expect(body.conversions[0]).toMatchObject({
      identifiers: [{ twclid: '23op' }, expect.anything(), expect.anything()],
      number_items: 2,
      contents: [
        { content_id: 'tea-1', content_name: 'Tea', content_type: 'Drinks', content_price: '21.25', num_items: 2 },
      ],
    });
  });

  it('unfit: an IP address alone matches no person', () => {
    const stranger = sampleStranger();
    const context = { ip: '203.0.113.7', user_agent: 'Example/1.0' };
    const resolved = { ...stranger.resolved, event: { ...stranger.resolved.event, context } };
    expect(() => prepared.buildRequest([{ resolved }], nowMs)).toThrow('X needs');
  });
});
