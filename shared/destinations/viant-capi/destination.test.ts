import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { viantCapi } from './destination.ts';

const prepared = viantCapi.prepare(viantCapi.exampleSettings);
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('ViantCAPI', () => {
  it('request: a purchase as the API takes it', () => {
    const request = prepared.buildRequest([sampleShopper()], 0);
    expect(request).toMatchObject({
      method: 'POST',
      url: 'https://vdp-connect-api.viantinc.com/v1/conversions',
      oauth: {
        grant: {
          tokenUrl: 'https://vdp-connect-api.viantinc.com/v1/oauth2/authenticate',
          by: { kind: 'client-credentials' },
          client: { id: 'example-client', secret: 'example-secret', sentIn: 'basic' },
        },
      },
    });
    expect(JSON.parse(request.body ?? '')).toEqual([
      {
        accountId: 1_234,
        advertisers: [5_678],
        salesData: {
          transactionId: 'order-event-1',
          conversionEventType: 'Purchase',
          conversionTimestamp: '2023-11-14T22:13:20.000Z',
          identifiers: [
            { type: 'email_sha256', value: sha256('ada@example.com') },
            { type: 'phonenumber_sha256', value: sha256('+448444124653') },
            { type: 'ip', value: '203.0.113.7' },
          ],
          amount: 42.5,
          currency: 'EUR',
          purchasedItems: [
            { itemId: 'tea-1', productName: 'Tea', productCategory: 'Drinks', price: 21.25, quantity: 2 },
          ],
        },
      },
    ]);
  });

  it('unfit: a visitor that Viant cannot match', () => {
    expect(() => prepared.buildRequest([sampleStranger()], 0)).toThrow('no identifier');
  });
});
