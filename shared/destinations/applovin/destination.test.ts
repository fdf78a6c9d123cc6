import { expect, test } from 'vitest';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { bodyOf, requestOf, sha256 } from '../testing/sent-by.ts';
import { appLovin } from './destination.ts';

test('AppLovin: a purchase as the Axon Conversion API documents it', () => {
  expect(requestOf(appLovin, [sampleShopper()])).toMatchObject({
    method: 'POST',
    url: 'https://b.applovin.com/v1/event?pixel_id=0a1b2c3d-0000-4000-8000-000000000001',
    headers: { authorization: 'example' },
  });
  expect(bodyOf(appLovin, [sampleShopper()])).toEqual({
    events: [
      {
        name: 'purchase',
        event_time: 1_700_000_000_000,
        event_source_url: 'https://shop.example.com/thanks',
        dedupe_id: 'order-event-1',
        data: {
          value: 42.5,
          currency: 'EUR',
          items: [{ item_id: 'tea-1', item_name: 'Tea', item_brand: 'Leaf', price: 21.25, quantity: 2 }],
          transaction_id: 'A-1001',
          tax: 0,
          shipping: 0,
        },
        user_data: {
          client_ip_address: '203.0.113.7',
          client_user_agent: 'Example/1.0',
          esi: 'web',
          client_id: 'sample-visitor',
          user_id: 'customer-7',
          email: sha256('ada@example.com'),
          phone: sha256('448444124653'),
          country_code: 'GB',
        },
      },
    ],
  });
});

test('AppLovin: a restricted advertiser sends page views and leads only, with the origin of the page instead of its address', () => {
  const settings = { ...appLovin.exampleSettings, restricted: true };
  const accepts = (event: string) => appLovin.prepare(settings).accepts?.(sampleShopper({ event }));
  expect(['Page Viewed', 'Lead', 'Order Completed'].map(accepts)).toEqual([true, true, false]);
  expect(bodyOf(appLovin, [sampleShopper({ event: 'Lead' })], { restricted: true })).toMatchObject({
    events: [{ name: 'generate_lead', event_source_url: 'https://shop.example.com/', data: { value: 42.5 } }],
  });
  const [view] = (
    bodyOf(appLovin, [sampleShopper({ event: 'Page Viewed', properties: {} })]) as { events: { data: null }[] }
  ).events;
  expect(view?.data).toBeNull();
});

test('AppLovin: an event for which AppLovin would drop the whole request is unfit', () => {
  expect(() => requestOf(appLovin, [sampleStranger()])).toThrow('the page address');
  const context = { current_url: 'https://shop.example.com/' };
  expect(() => requestOf(appLovin, [sampleShopper({ context })])).toThrow('both an IP address and a User-Agent');
  expect(() => requestOf(appLovin, [sampleShopper({ properties: { value: 1 } })])).toThrow(
    'the products of a purchase',
  );
  expect(() => requestOf(appLovin, [sampleShopper({ event: 'Lead', properties: {} })])).toThrow('value and currency');
  expect(() => requestOf(appLovin, [sampleShopper({ event: 'Search', properties: {} })])).toThrow('the search text');
});
