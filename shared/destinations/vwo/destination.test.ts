import { expect, test } from 'vitest';
import { sampleShopper } from '../testing/sample-shopper.ts';
import { bodyOf, requestOf } from '../testing/sent-by.ts';
import { vwo } from './destination.ts';

const properties = { vwo_uuid: 'D0E1', value: 42.5, gift: true, products: [{}] };
const settings = { region: 'US', sdkKey: undefined };
const base = 'https://dev.visualwebsiteoptimizer.com';

test('VWO: an event with the browser and the address of its visitor', () => {
  const event = sampleShopper({ event: 'orderCompleted', properties });
  expect(requestOf(vwo, [event], settings)).toMatchObject({
    method: 'POST',
    url: `${base}/events/t?en=orderCompleted&a=123456`,
    headers: { 'user-agent': 'Example/1.0', 'x-forwarded-for': '203.0.113.7' },
  });
  expect(bodyOf(vwo, [event], settings)).toEqual({
    d: {
      msgId: 'D0E1-1700000000000',
      visId: 'D0E1',
      sessionId: 1_700_000_000,
      event: {
        name: 'orderCompleted',
        time: 1_700_000_000_000,
        props: {
          value: 42.5,
          gift: true,
          page: { url: 'https://shop.example.com/thanks', referrerUrl: 'https://shop.example.com/cart' },
          isCustomEvent: true,
          vwoMeta: { source: 'sluice', metric: {} },
        },
      },
    },
  });
});

test('VWO: an identify sends the visitor’s properties, with the SDK key as environment', () => {
  const identify = sampleShopper({
    event: '$identify',
    visitor: { custom_properties: { plan: 'pro', vwo_uuid: 'D0E1' } },
  });
  const request = requestOf(vwo, [identify], { region: 'EU', sdkKey: 'key-1' });
  expect(request.url).toBe(`${base}/eu01/events/t?en=vwo_syncVisitorProp&a=123456`);
  const { d } = bodyOf(vwo, [identify], { sdkKey: 'key-1' }) as {
    d: { visitor: { props: object }; event: { props: object } };
  };
  expect(d.visitor.props).toMatchObject({ vwo_fs_environment: 'key-1', first_name: 'Ada', plan: 'pro' });
  expect(d.visitor.props).not.toHaveProperty('vwo_uuid');
  expect(d.event.props).toMatchObject({ $visitor: d.visitor });
});

test('VWO: with an SDK key, a visitor has the id that the SDKs derive from the user id', () => {
  const visitorId = (id: string, sdkKey?: string) => {
    const event = sampleShopper({ properties: { vwo_uuid: id } });
    const { d } = bodyOf(vwo, [event], { accountId: '12345', sdkKey }) as { d: { visId: string; msgId: string } };
    expect(d.msgId).toBe(`${d.visId}-1700000000000`);
    return d.visId;
  };
  // The ids that the tests of VWO's own integration expect.
  expect(visitorId('Varun', 'key-1')).toBe('C4D95C097902569F9A2D2E87CD3201C8');
  expect(visitorId('We@#dcs3232.f3', 'key-1')).toBe('AAB4580A6BB3525FAA31DC341752D501');
  expect(visitorId('Varun')).toBe('Varun');
  const ofBrowser = 'D0E1A2B3C4D5E60000000000000000001';
  expect(visitorId(ofBrowser, 'key-1')).toBe(ofBrowser);
  // The id that an SDK recorded is final; another id of 32 digits is a user id, which the SDKs convert.
  const recorded = 'C4D95C097902569F9A2D2E87CD3201C8';
  expect(visitorId(recorded, 'key-1')).toBe(recorded);
  const random = 'C4D95C097902469F9A2D2E87CD3201C8';
  expect(visitorId(random, 'key-1')).not.toBe(random);
});

test('VWO: a visitor without a VWO visitor id is unfit', () => {
  expect(() => requestOf(vwo, [sampleShopper()])).toThrow('no VWO visitor id (vwo_uuid)');
});
