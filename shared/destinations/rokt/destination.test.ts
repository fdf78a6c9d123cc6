import { expect, test } from 'vitest';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { bodyOf, requestOf, sha256 } from '../testing/sent-by.ts';
import { rokt } from './destination.ts';

const context = {
  current_url: 'https://shop.example.com/thanks?rtid=rokt-1',
  ip: '203.0.113.7',
  user_agent: 'Example/1.0',
};

test('Rokt: a conversion in the envelope of its event platform', () => {
  const event = sampleShopper({ context, visitor: { zip: '94107' } });
  expect(requestOf(rokt, [event])).toMatchObject({
    method: 'POST',
    url: 'https://inbound.mparticle.com/s2s/v2/bulkevents',
    headers: { authorization: `Basic ${Buffer.from('us1-example:example-secret').toString('base64')}` },
  });
  expect(bodyOf(rokt, [event])).toEqual([
    {
      environment: 'production',
      user_identities: { other: sha256('ada@example.com'), customerid: 'customer-7', other2: 'rokt-1' },
      user_attributes: {
        firstnamesha256: sha256('ada'),
        lastnamesha256: sha256('lovelace'),
        billingzipsha256: sha256('94107'),
      },
      device_info: { http_header_user_agent: 'Example/1.0' },
      ip: '203.0.113.7',
      integration_attributes: { '1277': { passbackconversiontrackingid: 'rokt-1' } },
      events: [
        {
          event_type: 'custom_event',
          data: {
            custom_event_type: 'transaction',
            event_name: 'conversion',
            source_message_id: 'order-event-1',
            timestamp_unixtime_ms: 1_700_000_000_000,
            custom_attributes: {
              conversiontype: 'Order Completed',
              confirmationref: 'A-1001',
              amount: 42.5,
              currency: 'EUR',
            },
          },
        },
      ],
    },
  ]);
});

test('Rokt: a mobile number is hashed as ten digits, and a name without spaces', () => {
  const attributes = (visitor: Readonly<Record<string, unknown>>) =>
    (bodyOf(rokt, [sampleShopper({ visitor })]) as readonly { user_attributes: object }[])[0]?.user_attributes;
  const american = { phone_number: '+1 (650) 555-1212', first_name: ' Mary Ann', last_name: "O'Neil" };
  expect(attributes(american)).toMatchObject({
    mobilesha256: sha256('6505551212'),
    firstnamesha256: sha256('maryann'),
    lastnamesha256: sha256("o'neil"),
  });
  expect(attributes({ phone_number: '650.555.1212', country: undefined })).toMatchObject({
    mobilesha256: sha256('6505551212'),
  });
  expect(attributes({ phone_number: '+49 30 901820' })).not.toHaveProperty('mobilesha256');
});

test('Rokt: an event without an order is referenced by its own id; an unknown visitor is unfit', () => {
  expect(bodyOf(rokt, [sampleShopper({ event: 'Lead', properties: {} })])).toMatchObject([
    { events: [{ data: { custom_attributes: { conversiontype: 'Lead', confirmationref: 'order-event-1' } } }] },
  ]);
  expect(() => requestOf(rokt, [sampleStranger()])).toThrow('Rokt needs an e-mail address');
});
