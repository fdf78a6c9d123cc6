import { expect, test } from 'vitest';
import { acceptsAll } from '../sdk/answers.ts';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { bodyOf, parametersOf, requestOf } from '../testing/sent-by.ts';
import { activeCampaignApi } from './destination.ts';

test('ActiveCampaign: an event is sent in the format of the event tracker', () => {
  const properties = { order_id: 'A-1', value: 5 };
  const request = requestOf(activeCampaignApi, [sampleShopper({ event: 'x'.repeat(40), properties })]);
  expect(request).toMatchObject({
    method: 'POST',
    url: 'https://trackcmp.net/event',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  expect(request.headers).not.toHaveProperty('api-token');
  expect(parametersOf(request)).toEqual({
    actid: '123456789',
    key: 'example-event-key',
    event: 'x'.repeat(32),
    eventdata: '{"order_id":"A-1","value":5}',
    visit: '{"email":"ada@example.com"}',
  });
});

test('ActiveCampaign: an identify becomes a contact, with its traits in fields named by number', () => {
  const own = { plan: 'pro', tags: ['a', 'b'], secret: 'x' };
  const identify = sampleShopper({
    event: '$identify',
    visitor: { phone_number: '+44 20 7946 0000', custom_properties: own },
  });
  const settings = { customFields: '{"plan": 1, "tags": "2", "age": 3}' };
  expect(requestOf(activeCampaignApi, [identify], settings)).toMatchObject({
    method: 'POST',
    url: 'https://example.api-us1.com/api/3/contact/sync',
    headers: { 'api-token': 'example-api-key' },
  });
  expect(bodyOf(activeCampaignApi, [identify], settings)).toEqual({
    contact: {
      email: 'ada@example.com',
      firstName: 'Ada',
      lastName: 'Lovelace',
      phone: '+442079460000',
      fieldValues: [
        { field: '1', value: 'pro' },
        { field: '2', value: '||a||b||' },
      ],
    },
  });
});

test('ActiveCampaign: the outcome of an event is read from the body of a 200 answer', () => {
  const prepared = activeCampaignApi.prepare(activeCampaignApi.exampleSettings);
  const read = (event: string, body: string) =>
    prepared.readAnswer?.({ status: 200, headers: {}, body }, [sampleShopper({ event })])?.map(({ kind }) => kind);
  expect(read('Lead', '{"success":1,"message":"Event spawned"}')).toEqual(['delivered']);
  expect(read('Lead', '{"success":0,"message":"Tracking is disabled"}')).toEqual(['reject']);
  expect(read('Lead', '<html>')).toEqual(['retry']);
  expect(read('$identify', '{"contact":{"id":"1"}}')).toBeUndefined();
});

test('ActiveCampaign: a subscription is imported before its event is tracked, so that a retry tracks no event twice', () => {
  const subscribing = { lists: '7', subscribeEvents: 'Joined' };
  const prepared = activeCampaignApi.prepare({ ...activeCampaignApi.exampleSettings, ...subscribing });
  const events = [sampleShopper({ event: 'Joined' })];
  const request = prepared.buildRequest(events, 0);
  expect([request.url, request.next?.url, request.next?.next]).toEqual([
    'https://example.api-us1.com/api/3/import/bulk_import',
    'https://trackcmp.net/event',
    undefined,
  ]);
  const answer = (body: string) => ({ status: 200, headers: {}, body });
  expect(acceptsAll(prepared, events)(answer('{"queued_contacts":1,"batchId":"1"}'))).toBe(true);
  expect(acceptsAll(prepared, events)(answer('{"success":1,"queued_contacts":1}'))).toBe(true);
  expect(prepared.readAnswer?.(answer('{"success":0}'), events)).toMatchObject([{ kind: 'reject' }]);
  expect(prepared.readAnswer?.(answer('<html>'), events)).toMatchObject([{ kind: 'retry' }]);
});

test('ActiveCampaign: an unknown visitor is unfit, and custom fields must be numbers', () => {
  expect(() => requestOf(activeCampaignApi, [sampleStranger()])).toThrow('ActiveCampaign needs an e-mail address');
  const prepare = (customFields: string) => () =>
    activeCampaignApi.prepare({ ...activeCampaignApi.exampleSettings, customFields });
  expect(prepare('[1]')).toThrow('settings.customFields must be a JSON object');
  expect(prepare('{"plan":"x"}')).toThrow('settings.customFields must contain custom field numbers');
});
