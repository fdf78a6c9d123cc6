import { expect, test } from 'vitest';
import { sampleShopper, sampleStranger, withoutId } from '../testing/sample-shopper.ts';
import { bodyOf, requestOf, sha256 } from '../testing/sent-by.ts';
import { nextdoorAds } from './destination.ts';

const context = {
  current_url: 'https://shop.example.com/thanks?ndclid=nd-1',
  ip: '203.0.113.7',
  user_agent: 'Example/1.0',
};

test('Nextdoor: a purchase as conversions/track documents it', () => {
  expect(requestOf(nextdoorAds, [sampleShopper({ context })])).toMatchObject({
    method: 'POST',
    url: 'https://ads.nextdoor.com/v2/api/conversions/track',
    headers: { authorization: 'Bearer example' },
  });
  expect(bodyOf(nextdoorAds, [sampleShopper({ context })])).toEqual({
    event_name: 'purchase',
    event_id: 'order-event-1',
    event_time_epoch: 1_700_000_000,
    action_source: 'website',
    action_source_url: context.current_url,
    data_source_id: '00000000-0000-4000-8000-000000000001',
    delivery_optimization: true,
    test_event: 'false',
    customer: {
      email: sha256('ada@example.com'),
      phone_number: sha256('+448444124653'),
      external_id: sha256('customer-7'),
      click_id: 'nd-1',
      client_ip_address: '203.0.113.7',
      first_name: sha256('ada'),
      last_name: sha256('lovelace'),
      country: sha256('gb'),
      client_user_agent: 'Example/1.0',
    },
    custom: {
      order_value: 'EUR42.5',
      order_id: 'A-1001',
      product_context: [{ id: 'tea-1', item_price: 21.25, quantity: 2 }],
    },
  });
});

test('Nextdoor: only the event names of its own list are accepted', () => {
  const accepts = (event: string) =>
    nextdoorAds.prepare(nextdoorAds.exampleSettings).accepts?.(sampleShopper({ event }));
  expect(['Signed Up', 'custom_conversion_10', 'custom_conversion_11', 'Refunded'].map(accepts)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test('Nextdoor: a website event without a page address, and an event of an unknown visitor, are unfit', () => {
  expect(() => requestOf(nextdoorAds, [sampleStranger()])).toThrow('the page address');
  expect(() => requestOf(nextdoorAds, [withoutId(sampleStranger())], { actionSource: 'other' })).toThrow(
    'no identifier',
  );
  expect(bodyOf(nextdoorAds, [sampleShopper()], { testMode: true, actionSource: 'phone_call' })).toMatchObject({
    test_event: 'true',
    action_source: 'phone_call',
  });
});
