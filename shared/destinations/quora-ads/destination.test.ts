import { expect, test } from 'vitest';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { bodyOf, requestOf } from '../testing/sent-by.ts';
import { quoraAds } from './destination.ts';

const context = {
  current_url: 'https://shop.example.com/thanks?qclid=q-1',
  referrer: 'https://shop.example.com/cart',
  ip: '203.0.113.7',
  user_agent: 'Example/1.0',
};

test('Quora: a purchase, its time in microseconds', () => {
  expect(requestOf(quoraAds, [sampleShopper({ context })])).toMatchObject({
    method: 'POST',
    url: 'https://api.quora.com/ads/v0/conversions',
    headers: { authorization: 'Bearer example' },
  });
  expect(bodyOf(quoraAds, [sampleShopper({ context, visitor: { city: 'London' } })])).toEqual({
    account_id: 123_456_789,
    data: [
      {
        conversion: {
          event_name: 'Purchase',
          timestamp: 1_700_000_000_000_000,
          event_id: 'order-event-1',
          click_id: 'q-1',
          value: 42.5,
        },
        user: {
          email: 'ada@example.com',
          phone_number: '+448444124653',
          ip: '203.0.113.7',
          country: 'GB',
          city: 'London',
        },
        device: { user_agent: 'Example/1.0', referer: 'https://shop.example.com/cart' },
      },
    ],
  });
});

test('Quora: an event with any other name becomes Generic, and an unknown visitor is unfit', () => {
  expect(bodyOf(quoraAds, [sampleShopper({ event: 'Quiz Done' })])).toMatchObject({
    data: [{ conversion: { event_name: 'Generic' } }],
  });
  expect(() => requestOf(quoraAds, [sampleStranger()])).toThrow('no identifier');
  // Quora needs the e-mail address itself, so a hash of it is left out.
  const hashed = sampleShopper({ visitor: { email: 'a'.repeat(64), phone_number: null }, context: {} });
  expect(() => requestOf(quoraAds, [hashed])).toThrow('no identifier');
});

test('Quora: rows that are not OK are refused', () => {
  const prepared = quoraAds.prepare(quoraAds.exampleSettings);
  const events = [sampleShopper(), sampleShopper()];
  const rows = [
    { index: 0, status: 'OK' },
    { index: 1, status: 'ERROR', error_code: 'INVALID_TIMESTAMP', error_message: 'of ada@example.com' },
  ];
  const body = JSON.stringify({ events_received: 2, events_errored: 1, events: rows });
  expect(prepared.readAnswer?.({ status: 200, headers: {}, body }, events)).toEqual([
    { kind: 'delivered' },
    { kind: 'reject', reason: 'row refused: INVALID_TIMESTAMP' },
  ]);
  expect(prepared.readAnswer?.({ status: 401, headers: {}, body }, events)).toBeUndefined();
});
