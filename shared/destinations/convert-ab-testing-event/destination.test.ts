import { expect, test } from 'vitest';
import { sampleShopper } from '../testing/sample-shopper.ts';
import { bodyOf, requestOf } from '../testing/sent-by.ts';
import { convertAbTestingEvent } from './destination.ts';

const kind = convertAbTestingEvent;
const settings = { accountId: '1001', projectId: '2002', goalId: '3003' };

test('Convert: a purchase is sent as a conversion and a conversion with its amount and products', () => {
  const event = sampleShopper({ visitor: { custom_properties: { convert_visitor_id: 'cv-1' } } });
  expect(requestOf(kind, [event], settings)).toMatchObject({
    method: 'POST',
    url: 'https://2002.metrics.convertexperiments.com/v1/track/1001/2002',
  });
  expect(bodyOf(kind, [event], settings)).toEqual({
    accountId: '1001',
    projectId: '2002',
    enrichData: true,
    source: 'sluice',
    visitors: [
      {
        visitorId: 'cv-1',
        events: [
          { eventType: 'conversion', data: { goalId: '3003' } },
          {
            eventType: 'conversion',
            data: {
              goalId: '3003',
              goalData: [
                { key: 'amount', value: 42.5 },
                { key: 'productsCount', value: 2 },
                { key: 'transactionId', value: 'A-1001' },
              ],
            },
          },
        ],
      },
    ],
  });
});

test('Convert: an event may name its goal, and an event without a goal is unfit', () => {
  const lead = sampleShopper({ event: 'Lead', properties: { goal_id: 4_004 } });
  expect(bodyOf(kind, [lead], settings)).toMatchObject({
    visitors: [{ visitorId: 'sample-visitor', events: [{ eventType: 'conversion', data: { goalId: '4004' } }] }],
  });
  expect(() => requestOf(kind, [sampleShopper()], { goalId: undefined })).toThrow('neither the event (goal_id)');
  expect(() => kind.prepare({ ...settings, goalId: 'buy' })).toThrow('settings.goalId must be a number');
});

test.each([
  ['vi:1374074822644-0.8675*sc:2*cs:1374079443', '1374074822644-0.8675'],
  ['sc%3A2*vi%3Acustomer-7*pv%3A4', 'customer-7'],
  // The script's own value for a visitor without an id.
  ['vi:1*sc:2*cs:1374079443', 'sample-visitor'],
  ['sc:2*cs:1374079443', 'sample-visitor'],
])('Convert: the cookie %s has the visitor id %s', (cookie, visitorId) => {
  const event = sampleShopper({ properties: { _conv_v: cookie } });
  expect(bodyOf(kind, [event], settings)).toMatchObject({ visitors: [{ visitorId }] });
});
