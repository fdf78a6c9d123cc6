import { expect, test } from 'vitest';
import { sampleShopper, sampleStranger, withoutId } from '../testing/sample-shopper.ts';
import { bodyOf, requestOf, sha256 } from '../testing/sent-by.ts';
import { yelpCapi } from './destination.ts';

test('Yelp: a purchase as the Conversions API documents it', () => {
  expect(requestOf(yelpCapi, [sampleShopper()])).toMatchObject({
    method: 'POST',
    url: 'https://api.yelp.com/v3/conversion/events',
    headers: { authorization: 'Bearer example' },
  });
  expect(bodyOf(yelpCapi, [sampleShopper()])).toEqual({
    test_event: false,
    events: [
      {
        event_id: 'order-event-1',
        event_time: 1_700_000_000,
        event_name: 'purchase',
        action_source: 'website',
        event_source_url: 'https://shop.example.com/thanks',
        user_data: {
          em: [sha256('ada@example.com')],
          ph: [sha256('448444124653')],
          external_id: [sha256('customer-7')],
          client_ip_address: '203.0.113.7',
          fn: sha256('ada'),
          ln: sha256('lovelace'),
          country: [sha256('gb')],
          client_user_agent: 'Example/1.0',
        },
        custom_data: {
          value: 42.5,
          currency: 'EUR',
          order_id: 'A-1001',
          content_ids: ['tea-1'],
          contents: [{ id: 'tea-1', quantity: 2, item_price: 21.25 }],
          num_items: 2,
        },
      },
    ],
  });
});

test.each([
  ['Product Viewed', 'view_content'],
  ['Page Viewed', 'custom_page_viewed'],
  ['custom_quiz-1', 'custom_quiz-1'],
  ['Quiz: Done!', 'custom_quiz_done'],
])('Yelp: %s is sent as %s', (event, event_name) => {
  expect(bodyOf(yelpCapi, [sampleShopper({ event })])).toMatchObject({ events: [{ event_name }] });
});

test('Yelp: test mode and action source are sent; an unknown visitor and an event without a name are refused', () => {
  expect(bodyOf(yelpCapi, [sampleShopper()], { testMode: true, actionSource: 'app' })).toMatchObject({
    test_event: true,
    events: [{ action_source: 'app' }],
  });
  expect(() => requestOf(yelpCapi, [withoutId(sampleStranger())])).toThrow('no identifier');
  expect(() => requestOf(yelpCapi, [sampleShopper({ event: '日本' })])).toThrow('no name that Yelp accepts');
});
