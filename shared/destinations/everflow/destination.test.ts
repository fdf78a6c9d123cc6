import { expect, test } from 'vitest';
import { sampleShopper } from '../testing/sample-shopper.ts';
import { parametersOf, requestOf } from '../testing/sent-by.ts';
import { everflow } from './destination.ts';

const url = 'https://www.example-tracking.com/?nid=123&event_id=7&transaction_id=TRANSACTION_ID';
const context = { current_url: 'https://shop.example.com/?_ef_transaction_id=ef-1' };

test('Everflow: the click id goes into the postback URL that Everflow shows', () => {
  const request = requestOf(everflow, [sampleShopper({ context })], { url });
  expect(request).toMatchObject({ method: 'GET', body: undefined });
  expect(new URL(request.url).origin).toBe('https://www.example-tracking.com');
  expect(parametersOf(request)).toEqual({
    nid: '123',
    event_id: '7',
    transaction_id: 'ef-1',
    amount: '42.5',
    currency: 'EUR',
    order_id: 'A-1001',
  });
});

test('Everflow: purchases count as conversions, unless the settings name other events', () => {
  const accepts = (event: string, conversionEvents?: string) =>
    everflow.prepare({ url, conversionEvents }).accepts?.(sampleShopper({ event }));
  expect([accepts('Order Completed'), accepts('Page Viewed'), accepts('$identify')]).toEqual([true, false, false]);
  expect([accepts('Order Completed', 'Signed Up, Lead'), accepts('signed up', 'Signed Up, Lead')]).toEqual([
    false,
    true,
  ]);
  expect(() => everflow.prepare({ url, conversionEvents: ' , ' })).toThrow('settings.conversionEvents must name');
});

test('Everflow: a URL without nid, and an event without a click, are refused', () => {
  expect(() => everflow.prepare({ url: 'https://www.example.com/' })).toThrow(
    'settings.url must contain the network as nid',
  );
  expect(() => requestOf(everflow, [sampleShopper()], { url })).toThrow('no click id (_ef_transaction_id)');
});
