import { expect, test } from 'vitest';
import { minorUnits } from '../sdk/minor-units.ts';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { attemptMs, bodyOf, requestOf, sha256 } from '../testing/sent-by.ts';
import { openaiAds } from './destination.ts';

const context = {
  current_url: 'https://shop.example.com/thanks?oppref=op-1',
  ip: '203.0.113.7',
  user_agent: 'Example/1.0',
};

test('OpenAI Ads: a purchase as the Conversions API documents it', () => {
  expect(requestOf(openaiAds, [sampleShopper({ context })])).toMatchObject({
    method: 'POST',
    url: 'https://bzr.openai.com/v1/events?pid=pixel_example',
    headers: { authorization: 'Bearer example' },
  });
  expect(bodyOf(openaiAds, [sampleShopper({ context })])).toEqual({
    validate_only: false,
    events: [
      {
        id: 'order-event-1',
        type: 'order_created',
        timestamp_ms: 1_700_000_000_000,
        oppref: 'op-1',
        source_url: context.current_url,
        action_source: 'web',
        user: {
          email_sha256: sha256('ada@example.com'),
          external_id_sha256: sha256('customer-7'),
          country: 'GB',
          ip_address: '203.0.113.7',
          user_agent: 'Example/1.0',
        },
        data: {
          type: 'contents',
          amount: 4_250,
          currency: 'EUR',
          contents: [
            { id: 'tea-1', name: 'Tea', content_type: 'product', quantity: 2, amount: 2_125, currency: 'EUR' },
          ],
        },
      },
    ],
  });
});

test.each([
  ['Signed Up', { type: 'registration_completed', data: { type: 'customer_action', amount: 4_250, currency: 'EUR' } }],
  ['Trial Started', { type: 'trial_started', data: { type: 'plan_enrollment', amount: 4_250, currency: 'EUR' } }],
  [
    'Quiz Done',
    { type: 'custom', custom_event_name: 'Quiz Done', data: { type: 'custom', amount: 4_250, currency: 'EUR' } },
  ],
])('OpenAI Ads: %s has the data of its type', (event, expected) => {
  expect(bodyOf(openaiAds, [sampleShopper({ event })])).toMatchObject({ events: [expected] });
});

test('OpenAI Ads: an amount without a currency is left out', () => {
  const [event] = (bodyOf(openaiAds, [sampleShopper({ properties: { value: 5 } })]) as { events: { data: unknown }[] })
    .events;
  expect(event?.data).toEqual({ type: 'contents' });
});

test.each([
  [129.99, 'USD', 12_999],
  [500, 'JPY', 500],
  [1.005, 'EUR', 100],
  [2.5, 'KWD', 2_500],
  [1_234.5, 'HUF', 123_450],
  [250_000, 'IDR', 25_000_000],
  [5_000, 'COP', 500_000],
  [900, 'PKR', 90_000],
  [1_000, 'IQD', 1_000_000],
  [1_500, 'UGX', 1_500],
  [2_000, 'ISK', 2_000],
  [1.25, 'UYW', 12_500],
  [10, 'XYZ', 1_000],
])('amounts: %d %s is %d of the smallest unit of the currency', (amount, currency, units) => {
  expect(minorUnits(amount, currency)).toBe(units);
});

test('OpenAI Ads: an event that is too old, or a web event without a page, is unfit', () => {
  expect(() => requestOf(openaiAds, [sampleShopper({ time: attemptMs - 8 * 86_400_000 })])).toThrow(
    'older than 7 days',
  );
  expect(() => requestOf(openaiAds, [sampleStranger()])).toThrow('the page address');
  expect(bodyOf(openaiAds, [sampleStranger()], { actionSource: 'offline', validateOnly: true })).toMatchObject({
    validate_only: true,
    events: [{ action_source: 'offline' }],
  });
});
