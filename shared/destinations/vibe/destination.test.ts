import { expect, test } from 'vitest';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { attemptMs, bodyOf, requestOf } from '../testing/sent-by.ts';
import { vibe } from './destination.ts';

test('Vibe: a purchase, its details as text', () => {
  const properties = { order_id: 'A-1', value: 42.5, currency: 'USD' };
  expect(requestOf(vibe, [sampleShopper({ properties })])).toMatchObject({
    method: 'POST',
    url: 'https://t.vibe.co/s2s-conversion/events/example',
  });
  expect(bodyOf(vibe, [sampleShopper({ properties })])).toEqual({
    a: 'purchase',
    eid: 'order-event-1',
    aid: 'AbC123',
    ts: 1_700_000_000_000,
    ip: '203.0.113.7',
    ed: '{"purchase_id":"A-1","price_usd":42.5}',
    ua: 'Example/1.0',
    url: 'https://shop.example.com/thanks',
  });
});

test('Vibe: an amount in euros is left out, since Vibe reads dollars', () => {
  expect(bodyOf(vibe, [sampleShopper()])).toMatchObject({ ed: '{"purchase_id":"A-1001"}' });
});

test('Vibe: an amount counts as dollars without a currency, and is left out with an unreadable one', () => {
  const of = (currency?: string) => bodyOf(vibe, [sampleShopper({ properties: { value: 5_000, currency } })]);
  expect(of()).toMatchObject({ ed: '{"price_usd":5000}' });
  expect(of('kr.')).not.toHaveProperty('ed');
});

test('Vibe: any other event is skipped; an event that is too old or has no IPv4 and no e-mail address is unfit', () => {
  const accepts = (event: string) => vibe.prepare(vibe.exampleSettings).accepts?.(sampleShopper({ event }));
  expect(['Signed Up', 'install', 'Product Added', '$identify'].map(accepts)).toEqual([true, true, false, false]);
  expect(() => requestOf(vibe, [sampleShopper({ time: attemptMs - 8 * 86_400_000 })])).toThrow('older than 7 days');
  expect(() => requestOf(vibe, [sampleStranger()])).toThrow('an IPv4 address or an e-mail address');
  const context = { ip: '2001:db8::1', user_agent: 'x' };
  const unknown = sampleShopper({ context, visitor: { email: undefined } });
  expect(() => requestOf(vibe, [unknown])).toThrow('an IPv4 address or an e-mail address');
});

test('Vibe: a visitor without an IPv4 address is identified by the e-mail address', async () => {
  const context = { ip: '2001:db8::1', user_agent: 'x' };
  const request = requestOf(vibe, [sampleShopper({ context })]);
  const body = JSON.parse(request.body ?? '') as object;
  expect(body).toMatchObject({ em: 'ada@example.com' });
  expect(body).not.toHaveProperty('ip');
  const { judge } = await vibe.loadPlatform();
  expect(judge(request).problems).toEqual([]);
  expect(judge({ ...request, body: JSON.stringify({ ...body, em: undefined }) }).problems).not.toEqual([]);
});
