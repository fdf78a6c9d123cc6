import { expect, test } from 'vitest';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { attemptMs, bodyOf, requestOf, sha256 } from '../testing/sent-by.ts';
import { spotify } from './destination.ts';

test('Spotify: a purchase in the envelope of the Conversions API', () => {
  expect(requestOf(spotify, [sampleShopper()])).toMatchObject({
    method: 'POST',
    url: 'https://capi.spotify.com/capi-direct/events/',
    headers: { authorization: 'Bearer example' },
  });
  expect(bodyOf(spotify, [sampleShopper()])).toEqual({
    conversion_events: {
      capi_connection_id: '00000000-0000-4000-8000-000000000001',
      events: [
        {
          event_name: 'PURCHASE',
          event_id: 'order-event-1',
          event_time: '2023-11-14T22:13:20.000Z',
          event_source_url: 'https://shop.example.com/thanks',
          action_source: 'WEB',
          opt_out_targeting: false,
          event_details: { amount: 42.5, currency: 'EUR', content_name: 'Tea', content_category: 'Drinks' },
          user_data: {
            hashed_emails: [sha256('ada@example.com')],
            hashed_phone_number: sha256('448444124653'),
            ip_address: '203.0.113.7',
          },
        },
      ],
    },
  });
});

test('Spotify: a time in the future becomes the time of the attempt', () => {
  expect(bodyOf(spotify, [sampleShopper({ time: attemptMs + 60_000 })])).toMatchObject({
    conversion_events: { events: [{ event_time: new Date(attemptMs).toISOString() }] },
  });
});

test('Spotify: any other event name is skipped; a purchase needs value and currency, and each event needs an identifier', () => {
  const accepts = (event: string) => spotify.prepare(spotify.exampleSettings).accepts?.(sampleShopper({ event }));
  expect(['Product Added', 'CUSTOM_EVENT_5', 'CUSTOM_EVENT_6', 'Quiz Done'].map(accepts)).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(() => requestOf(spotify, [sampleShopper({ properties: {} })])).toThrow('value and currency of a purchase');
  expect(() => requestOf(spotify, [sampleStranger('Lead')])).toThrow('no identifier');
});
