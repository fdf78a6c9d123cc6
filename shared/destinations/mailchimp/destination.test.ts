import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { bodyOf, requestOf } from '../testing/sent-by.ts';
import { mailchimp } from './destination.ts';

const hash = createHash('md5').update('ada@example.com').digest('hex');
const member = `https://us21.api.mailchimp.com/3.0/lists/a1b2c3d4e5/members/${hash}`;

test('Mailchimp: an event is sent for its member, with its properties as texts', () => {
  const properties = { order_id: 'A-1', value: 5, list: [1], none: null };
  const event = sampleShopper({ event: 'Order: Completed!', properties, visitor: { email: 'Ada@Example.com' } });
  expect(requestOf(mailchimp, [event])).toMatchObject({
    method: 'POST',
    url: `${member}/events`,
    headers: {
      authorization: `Basic ${Buffer.from('sluice:0123456789abcdef0123456789abcdef-us21').toString('base64')}`,
    },
  });
  expect(bodyOf(mailchimp, [event])).toEqual({
    name: 'order_completed_',
    occurred_at: '2023-11-14T22:13:20.000Z',
    properties: { order_id: 'A-1', value: '5', list: '[1]' },
  });
});

test('Mailchimp: an identify adds a member, and keeps the status of an existing member', () => {
  const identify = sampleShopper({ event: '$identify', visitor: { phone_number: '+442079460000' } });
  expect(requestOf(mailchimp, [identify], { newMembers: 'pending' })).toMatchObject({
    method: 'PUT',
    url: `${member}?skip_merge_validation=true`,
  });
  expect(bodyOf(mailchimp, [identify], { newMembers: 'pending' })).toEqual({
    email_address: 'ada@example.com',
    status_if_new: 'pending',
    merge_fields: { FNAME: 'Ada', LNAME: 'Lovelace', PHONE: '+442079460000', PLAN: 'pro' },
  });
});

test('Mailchimp: a member without a value for a required merge field is accepted', async () => {
  const settings = { unsubscribeEvents: 'User Unsubscribed' };
  const request = requestOf(mailchimp, [sampleShopper({ event: 'User Unsubscribed' })], settings);
  expect(request).toMatchObject({ method: 'PUT', url: `${member}?skip_merge_validation=true` });
  const { judge } = await mailchimp.loadPlatform();
  expect(judge(request).problems).toEqual([]);
  expect(judge({ ...request, url: member }).problems).not.toEqual([]);
});

test('Mailchimp: an event name must have 2 to 30 characters, and a member needs an e-mail address', () => {
  const name = (event: string) => (bodyOf(mailchimp, [sampleShopper({ event })]) as { name: string }).name;
  expect(name('x'.repeat(40))).toBe('x'.repeat(30));
  expect(() => name('x')).toThrow('no name that Mailchimp accepts');
  expect(() => requestOf(mailchimp, [sampleStranger()])).toThrow('Mailchimp needs an e-mail address');
});
