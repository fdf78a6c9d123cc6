import { expect, test } from 'vitest';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { bodyOf, requestOf, sha256 } from '../testing/sent-by.ts';
import { quantcastCapi } from './destination.ts';

test('Quantcast: a conversion with address and browser', () => {
  expect(requestOf(quantcastCapi, [sampleShopper()])).toMatchObject({
    method: 'POST',
    url: 'https://pixel.quantserve.com/conversion?a=p-1a2b3c4d5e6f7',
  });
  expect(bodyOf(quantcastCapi, [sampleShopper()])).toEqual([
    {
      name: 'Order Completed',
      time: 1_700_000_000_000,
      url: 'https://shop.example.com/thanks',
      referer: 'https://shop.example.com/cart',
      user: {
        client_ip: '203.0.113.7',
        client_user_agent: 'Example/1.0',
        email: sha256('ada@example.com'),
        external_id: 'customer-7',
      },
      event: { orderid: 'A-1001', revenue: 42.5, product_category: 'Drinks', labels: ['Tea'] },
    },
  ]);
});

test('Quantcast: a browser token is enough, and an event without any token is unfit', () => {
  const { resolved } = sampleStranger('Lead');
  const event = { ...resolved.event, event_properties: { quantcast_token: 'bt-1' } };
  expect(bodyOf(quantcastCapi, [{ resolved: { ...resolved, event } }])).toMatchObject([
    { name: 'Lead', user: { token: 'bt-1', external_id: 'stranger' } },
  ]);
  expect(() => requestOf(quantcastCapi, [sampleStranger()])).toThrow('Quantcast needs a browser token');
  expect(() => quantcastCapi.prepare({ pCode: '123' })).toThrow('settings.pCode must be an account ID');
});
