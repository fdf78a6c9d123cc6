import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { answerBodyBytesMax } from '../../egress/outbound.ts';
import type { JsonObject } from '../../runtime/json.ts';
import type { OutboundEvent } from '../sdk/destination.ts';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { amazonDsp } from './destination.ts';
import { amazonDspPlatform } from './platform.ts';

const settings = amazonDsp.exampleSettings;
const prepared = amazonDsp.prepare({ ...settings, dataSetName: 'Shop', region: 'EU' });
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const rowOf = (event: OutboundEvent) =>
  (JSON.parse(prepared.buildRequest([event], 0).body ?? '') as { events: JsonObject[] }).events[0];

describe('AmazonDSP', () => {
  it('request: a purchase as the Events API documents it', () => {
    const request = prepared.buildRequest([sampleShopper()], 0);
    expect(request).toMatchObject({
      method: 'POST',
      url: 'https://advertising-api-eu.amazon.com/adsApi/v1/create/events',
      headers: {
        'amazon-ads-accountid': 'amzn1.ads-account.g.example',
        'amazon-ads-clientid': 'amzn1.application-oa2-client.example',
      },
      oauth: { grant: { tokenUrl: 'https://api.amazon.co.uk/auth/o2/token', by: { kind: 'refresh-token' } } },
    });
    expect(JSON.parse(request.body ?? '')).toEqual({
      events: [
        {
          eventDescription: {
            name: 'Order Completed',
            conversionType: 'OFF_AMAZON_PURCHASES',
            eventSource: 'WEBSITE',
            eventIngestionMethod: 'SERVER_TO_SERVER',
            dataSetName: 'Shop',
          },
          eventTime: '2023-11-14T22:13:20.000Z',
          countryCode: 'GB',
          matchKeys: [
            { type: 'EMAIL', values: [sha256('ada@example.com')] },
            { type: 'PHONE', values: [sha256('448444124653')] },
            { type: 'FIRST_NAME', values: [sha256('ada')] },
            { type: 'LAST_NAME', values: [sha256('lovelace')] },
          ],
          eventId: 'order-event-1',
          value: 42.5,
          currencyCode: 'EUR',
          unitsSold: 2,
          customData: [
            { name: 'brand', value: 'Leaf' },
            { name: 'category', value: 'Drinks' },
            { name: 'productId', value: 'tea-1' },
          ],
          consent: { geo: { ipAddress: '203.0.113.7' } },
        },
      ],
    });
  });

  it('other events: are sent without currency, with the country of the destination and the consent of the event', () => {
    const consent = { amzn_ad_storage: 'GRANTED', amzn_user_data: 'DENIED' };
    const event = sampleShopper({ event: 'Quiz Finished', properties: { consent }, visitor: { country: undefined } });
    const row = rowOf(event);
    expect(row).toMatchObject({
      eventDescription: { name: 'Quiz Finished', conversionType: 'OTHER' },
      countryCode: 'US',
      consent: { amazonConsent: { amznAdStorage: 'GRANTED', amznUserData: 'DENIED' } },
    });
    expect(row).not.toHaveProperty('currencyCode');
    expect(rowOf(sampleShopper({ properties: { consent: { tcf: 'CO-example' } } }))).toMatchObject({
      consent: { tcf: 'CO-example' },
    });
  });

  it('unfit: a visitor that Amazon cannot match', () => {
    expect(() => rowOf(sampleStranger())).toThrow('no identifier');
  });

  it('request: its size is limited, because the answer repeats the events and must be read as a whole', () => {
    const attributes = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`attr${i + 1}`, 'x'.repeat(256)]));
    const events = Array.from({ length: 500 }, () => sampleShopper({ properties: attributes }));
    expect(() => prepared.buildRequest(events, 0)).toThrow('too large');
    const request = prepared.buildRequest(events.slice(0, 250), 0);
    const authorised = { ...request, headers: { ...request.headers, authorization: 'Bearer token' } };
    const { answer, taken } = amazonDspPlatform.judge(authorised);
    expect(taken).toHaveLength(250);
    expect(Buffer.byteLength(answer.body)).toBeLessThanOrEqual(answerBodyBytesMax);
  });

  it('answer: a 207 lists the refused rows by index', () => {
    const body = JSON.stringify({
      success: [{ index: 0 }],
      error: [{ index: 1, errors: [{ code: 'FIELD_VALUE_INVALID', message: 'of person@example.com' }] }],
    });
    const outcomes = prepared.readAnswer?.({ status: 207, headers: {}, body }, [sampleShopper(), sampleShopper()]);
    expect(outcomes).toEqual([{ kind: 'delivered' }, { kind: 'reject', reason: 'row refused: FIELD_VALUE_INVALID' }]);
  });
});
