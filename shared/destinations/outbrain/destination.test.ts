import { expect, test } from 'vitest';
import { sampleShopper } from '../testing/sample-shopper.ts';
import { parametersOf, requestOf } from '../testing/sent-by.ts';
import { outbrain } from './destination.ts';

const context = { current_url: 'https://shop.example.com/?dicbo=v2-abc%2Fd' };

test('Outbrain: a conversion contains its click id', () => {
  const request = requestOf(outbrain, [sampleShopper({ context, event: 'Purchase' })]);
  expect(request).toMatchObject({ method: 'GET', body: undefined });
  expect(request.url.startsWith('https://tr.outbrain.com/unifiedPixel?ob_click_id=v2-abc%2Fd&')).toBe(true);
  expect(parametersOf(request)).toEqual({
    ob_click_id: 'v2-abc/d',
    name: 'Purchase',
    orderId: 'A-1001',
    orderValue: '42.5',
    currency: 'EUR',
  });
});

test('Outbrain: unknown fields are left out, and an event without a click is unfit', () => {
  const properties = { dicbo: 'from-mapping' };
  expect(parametersOf(requestOf(outbrain, [sampleShopper({ event: 'Lead', properties })]))).toEqual({
    ob_click_id: 'from-mapping',
    name: 'Lead',
  });
  expect(() => requestOf(outbrain, [sampleShopper()])).toThrow('no click id (dicbo)');
  expect(outbrain.prepare({}).accepts?.(sampleShopper({ event: '$identify' }))).toBe(false);
});
