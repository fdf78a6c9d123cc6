import { expect, test } from 'vitest';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { bodyOf, requestOf } from '../testing/sent-by.ts';
import { zendesk } from './destination.ts';

test('Zendesk: an event on the timeline of a profile', () => {
  const properties = { order_id: 'A-1' };
  const event = sampleShopper({ event: 'Order Completed', properties });
  expect(requestOf(zendesk, [event])).toMatchObject({
    method: 'POST',
    url: 'https://example.zendesk.com/api/v2/user_profiles/events',
    headers: { authorization: `Basic ${Buffer.from('agent@example.com/token:example-token').toString('base64')}` },
  });
  expect(bodyOf(zendesk, [event])).toEqual({
    profile: {
      source: 'sluice',
      type: 'customer',
      identifiers: [
        { type: 'external_id', value: 'customer-7' },
        { type: 'email', value: 'ada@example.com' },
      ],
    },
    event: {
      source: 'sluice',
      type: 'order_completed',
      description: 'Order Completed',
      created_at: '2023-11-14T22:13:20.000Z',
      properties,
    },
  });
});

test('Zendesk: an identify updates a user, with the user fields that the settings name', () => {
  const identify = sampleShopper({ event: '$identify', visitor: { phone_number: '+442079460000' } });
  const settings = { userFields: 'plan, company_name' };
  expect(requestOf(zendesk, [identify], settings).url).toBe(
    'https://example.zendesk.com/api/v2/users/create_or_update',
  );
  expect(bodyOf(zendesk, [identify], settings)).toEqual({
    user: {
      name: 'Ada Lovelace',
      email: 'ada@example.com',
      phone: '+442079460000',
      external_id: 'customer-7',
      user_fields: { plan: 'pro' },
    },
  });
});

test('Zendesk: an anonymous visitor gets a profile of its own, and no user', () => {
  expect(bodyOf(zendesk, [sampleStranger('Lead')], { source: 'shop' })).toMatchObject({
    profile: { source: 'shop', identifiers: [{ type: 'visitor_id', value: 'stranger' }] },
  });
  expect(() => requestOf(zendesk, [sampleStranger('$identify')])).toThrow('Zendesk needs an external id');
});

test('Zendesk: an event name, a source and a subdomain that Zendesk does not accept are refused', () => {
  expect(() => requestOf(zendesk, [sampleShopper({ event: '!?' })])).toThrow('no name that Zendesk accepts');
  const prepare = (more: object) => () => zendesk.prepare({ ...zendesk.exampleSettings, ...more });
  expect(prepare({ source: 'Zendesk' })).toThrow('settings.source');
  expect(prepare({ subdomain: 'a.b' })).toThrow('settings.subdomain must be a subdomain');
});
