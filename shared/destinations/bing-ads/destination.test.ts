import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../runtime/json.ts';
import type { OutboundEvent } from '../sdk/destination.ts';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { bingAds } from './destination.ts';

const prepared = bingAds.prepare(bingAds.exampleSettings);
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const rowOf = (event: OutboundEvent) =>
  (JSON.parse(prepared.buildRequest([event], 0).body ?? '') as { data: JsonObject[] }).data[0];

describe('BingAds', () => {
  it('request: a purchase as the Conversions API documents it', () => {
    const request = prepared.buildRequest([sampleShopper({ visitor: { email: 'a.da+x@example.com' } })], 0);
    expect(request).toMatchObject({
      method: 'POST',
      url: 'https://capi.uet.microsoft.com/v1/97012345/events',
      headers: { authorization: 'Bearer example' },
    });
    expect(JSON.parse(request.body ?? '')).toEqual({
      data: [
        {
          eventType: 'custom',
          eventId: 'order-event-1',
          eventName: 'purchase',
          eventTime: 1_700_000_000,
          eventSourceUrl: 'https://shop.example.com/thanks',
          referrerUrl: 'https://shop.example.com/cart',
          adStorageConsent: 'G',
          userData: {
            em: sha256('ada@example.com'),
            anonymousId: 'sample-visitor',
            ph: sha256('+448444124653'),
            externalId: sha256('customer-7'),
            clientIpAddress: '203.0.113.7',
            clientUserAgent: 'Example/1.0',
          },
          customData: {
            value: 42.5,
            currency: 'EUR',
            transactionId: 'A-1001',
            itemIds: ['tea-1'],
            items: [{ id: 'tea-1', name: 'Tea', price: 21.25, quantity: 2 }],
          },
        },
      ],
      dataProvider: 'Sluice',
      continueOnValidationError: true,
    });
  });

  it('page view: is sent as a page load without a name, with the consent of the event', () => {
    const denied = sampleShopper({ event: 'Page Viewed', properties: { consent: { ad_storage: 'DENIED' } } });
    const row = rowOf(denied);
    expect(row).toMatchObject({ eventType: 'pageLoad', adStorageConsent: 'D' });
    expect(row).not.toHaveProperty('eventName');
    expect(rowOf(sampleShopper({ event: 'Quiz Finished' }))).toMatchObject({ eventName: 'Quiz Finished' });
  });

  it('unfit: a visitor that Microsoft cannot match', () => {
    expect(() => rowOf(sampleStranger())).toThrow('no identifier');
  });

  it.each([
    [200, [{ index: 1, propertyName: 'eventTime' }], ['delivered', 'reject']],
    [200, [{ index: 1, propertyName: 'eventTime', isWarning: true }], ['delivered', 'delivered']],
    [400, [{ index: -1, propertyName: 'data' }], undefined],
    [400, [{ index: 0, propertyName: 'eventTime' }], ['reject', 'delivered']],
    [401, [{ index: 0 }], undefined],
  ])('answer: %i with %j', (status, details, kinds) => {
    const answer = { status, headers: {}, body: JSON.stringify({ eventsReceived: 1, error: { details } }) };
    const outcomes = prepared.readAnswer?.(answer, [sampleShopper(), sampleShopper()]);
    expect(outcomes?.map(({ kind }) => kind)).toEqual(kinds);
  });
});
