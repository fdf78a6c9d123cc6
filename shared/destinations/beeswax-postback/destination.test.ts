import { expect, test } from 'vitest';
import { sampleShopper } from '../testing/sample-shopper.ts';
import { requestOf } from '../testing/sent-by.ts';
import { beeswaxPostback } from './destination.ts';

test('Beeswax: the id of the auction of the landing page goes into the postback', () => {
  const context = { current_url: 'https://shop.example.com/?auction_id=1234567890123.45.6' };
  expect(requestOf(beeswaxPostback, [sampleShopper({ context })])).toMatchObject({
    method: 'GET',
    url: 'https://example.bidr.io/postback/123?auction_id=1234567890123.45.6',
  });
});

test('Beeswax: a conversion without an auction is unfit, and any other event is skipped', () => {
  expect(() => requestOf(beeswaxPostback, [sampleShopper()])).toThrow('no click id (auction_id)');
  const prepared = beeswaxPostback.prepare(beeswaxPostback.exampleSettings);
  expect(prepared.accepts?.(sampleShopper({ event: 'Page Viewed' }))).toBe(false);
});
