import { expect, test } from 'vitest';
import { sampleShopper } from '../testing/sample-shopper.ts';
import { requestOf } from '../testing/sent-by.ts';
import { basisPostback } from './destination.ts';

const click = { order_id: 'A/1', value: 42.5, currency: 'EUR', postback_id: 'pb 1&x' };

test('Basis: the postback id replaces {{click}} in the URL', () => {
  const url = 'https://postback.example.com/c/7?pid={{click}}&v={{value}}&cur={{ currency }}&o={{order_id}}&t={{time}}';
  const request = requestOf(basisPostback, [sampleShopper({ properties: click })], { url });
  expect(request).toMatchObject({
    method: 'GET',
    url: 'https://postback.example.com/c/7?pid=pb%201%26x&v=42.5&cur=EUR&o=A%2F1&t=1700000000',
    body: undefined,
  });
});

test.each([
  ['ftp://example.com/{{click}}', 'must begin with http:// or https://'],
  ['https://{{click}}.example.com/', 'a host without placeholders'],
  ['https://example.com/c', 'must have {{click}}'],
  ['https://example.com/{{click}}?m={{email}}', 'not email'],
  ['https://example.com/a/../{{click}}', 'must not have . or ..'],
])('Basis: %s is refused as a postback URL', (url, problem) => {
  expect(() => basisPostback.prepare({ url })).toThrow(problem);
});

test.each(['.', '..'])('Basis: an event whose value %s would change the path of the URL is unfit', (orderId) => {
  const event = sampleShopper({ properties: { ...click, order_id: orderId } });
  const url = 'https://postback.example.com/account/7/{{order_id}}/sale?pid={{click}}';
  expect(() => requestOf(basisPostback, [event], { url })).toThrow('put . or .. into the URL path');
});

test('Basis: an event without a postback id is unfit', () => {
  expect(() => requestOf(basisPostback, [sampleShopper()])).toThrow('no click id (postback_id)');
});
