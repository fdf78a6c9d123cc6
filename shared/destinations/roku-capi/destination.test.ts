import { expect, test } from 'vitest';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { bodyOf, requestOf, sha256 } from '../testing/sent-by.ts';
import { rokuCapi } from './destination.ts';

test('Roku: a purchase as the Events API documents it', () => {
  const event = sampleShopper({ visitor: { email: 'Ada+news@Example.com', last_name: "O'Hara" } });
  expect(requestOf(rokuCapi, [event])).toMatchObject({
    method: 'POST',
    url: 'https://events.ads.rokuapi.net/v1/events',
    headers: { authorization: 'Bearer example' },
  });
  expect(bodyOf(rokuCapi, [event])).toEqual({
    event_group_id: 'PAbCdEfGh',
    events: [
      {
        event_name: 'PURCHASE',
        event_type: 'conversion',
        event_source: 'website',
        event_time: 1_700_000_000,
        event_id: 'order-event-1',
        event_source_url: 'https://shop.example.com/thanks',
        referrer_url: 'https://shop.example.com/cart',
        user_data: {
          is_hashed: true,
          em: sha256('ada@example.com'),
          ph: sha256('448444124653'),
          client_ip_address: '203.0.113.7',
          fn: sha256('ada'),
          ln: sha256("o'hara"),
          client_user_agent: 'Example/1.0',
        },
        custom_data: {
          value: 42.5,
          currency: 'EUR',
          order_id: 'A-1001',
          content_ids: ['tea-1'],
          num_items: 2,
        },
      },
    ],
  });
});

test('Roku: test mode sends to the test URL', () => {
  expect(requestOf(rokuCapi, [sampleShopper()], { testMode: true }).url).toMatch(/\/v1\/test_events$/);
});

test('Roku: only Roku’s event names are accepted, an unknown visitor is unfit, and a request over a megabyte is refused', () => {
  const accepts = (event: string) => rokuCapi.prepare(rokuCapi.exampleSettings).accepts?.(sampleShopper({ event }));
  expect(['Page Viewed', 'Donate', 'Quiz Done'].map(accepts)).toEqual([true, true, false]);
  expect(() => requestOf(rokuCapi, [sampleStranger()])).toThrow('no identifier');
  const long = { content_name: 'x'.repeat(600_000) };
  expect(() => requestOf(rokuCapi, [sampleShopper({ properties: long }), sampleShopper({ properties: long })])).toThrow(
    'too large',
  );
});
