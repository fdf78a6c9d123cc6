import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { parametersOf, requestOf } from '../testing/sent-by.ts';
import { impact } from './destination.ts';

const context = {
  current_url: 'https://shop.example.com/thanks?irclickid=ir-1',
  ip: '203.0.113.7',
  user_agent: 'Example/1.0',
};
const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');

test('Impact: a conversion is a form with numbered fields for its products', () => {
  const request = requestOf(impact, [sampleShopper({ context })]);
  expect(request).toMatchObject({
    method: 'POST',
    url: 'https://api.impact.com/Advertisers/IRExampleAccountSid/Conversions',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${Buffer.from('IRExampleAccountSid:example-token').toString('base64')}`,
    },
  });
  expect(parametersOf(request)).toEqual({
    CampaignId: '1000',
    ActionTrackerId: '20000',
    EventDate: '2023-11-14T22:13:20.000Z',
    OrderId: 'A-1001',
    ClickId: 'ir-1',
    CustomerId: 'customer-7',
    CustomerEmail: sha1('ada@example.com'),
    CustomProfileId: 'sample-visitor',
    CurrencyCode: 'EUR',
    IpAddress: '203.0.113.7',
    UserAgent: 'Example/1.0',
    PageUrl: 'https://shop.example.com/thanks?irclickid=ir-1',
    ItemSku1: 'tea-1',
    ItemName1: 'Tea',
    ItemCategory1: 'Drinks',
    ItemBrand1: 'Leaf',
    ItemPrice1: '21.25',
    ItemQuantity1: '2',
  });
});

const priced = Array.from({ length: 101 }, (_, index) => ({ product_id: `p${index}`, price: 1 }));

test.each([
  ['a product has no price', { value: 100, products: [{ product_id: 'a', price: 60 }, { product_id: 'b' }] }, '100'],
  ['there are more than 100 products', { products: priced }, '101'],
])('Impact: an order is sent as its total if %s', (_case, order, total) => {
  const sent = parametersOf(requestOf(impact, [sampleShopper({ context, properties: { order_id: 'A', ...order } })]));
  expect(sent['Amount']).toBe(total);
  expect(Object.keys(sent).filter((name) => name.startsWith('Item'))).toEqual([]);
});

test('Impact: an event without a click id and without a customer is unfit', () => {
  expect(() => requestOf(impact, [sampleStranger()])).toThrow('no click id (irclickid)');
});

test('Impact: the status ERROR is a refusal, even in a 200', () => {
  const prepared = impact.prepare(impact.exampleSettings);
  const read = (status: number, body: unknown) =>
    prepared.readAnswer?.({ status, headers: {}, body: JSON.stringify(body) }, [sampleShopper()]);
  const refused = { Status: 'ERROR', errors: [{ field: 'CampaignId', message: 'no such "program"' }] };
  expect(read(400, refused)).toEqual([{ kind: 'reject', reason: 'row refused: CampaignId' }]);
  expect(read(200, refused)).toEqual([{ kind: 'reject', reason: 'row refused: CampaignId' }]);
  expect(read(200, { Status: 'QUEUED' })).toBeUndefined();
  expect(read(500, refused)).toBeUndefined();
});
