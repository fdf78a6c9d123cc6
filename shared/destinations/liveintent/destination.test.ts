import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { bodyOf, requestOf, sha256 } from '../testing/sent-by.ts';
import { liveIntent } from './destination.ts';

test('LiveIntent: a conversion as the API guide documents it', () => {
  expect(requestOf(liveIntent, [sampleShopper()])).toMatchObject({
    method: 'POST',
    url: 'https://conversions.liveintent.com/conversions/12345',
    headers: { authorization: 'Bearer example' },
  });
  expect(bodyOf(liveIntent, [sampleShopper()])).toEqual([
    {
      pixelId: 44_489,
      source: 'web',
      eventId: 'order-event-1',
      eventTime: 1_700_000_000,
      userData: {
        sha2: sha256('ada@example.com'),
        md5: createHash('md5').update('ada@example.com').digest('hex'),
        ip: '203.0.113.7',
        ua: 'Example/1.0',
      },
      purchaseData: { currency: 'EUR', value: 42.5, sourceUrl: 'https://shop.example.com/thanks' },
    },
  ]);
});

test('LiveIntent: an e-mail address that is already hashed is sent as one hash only', () => {
  const [row] = bodyOf(liveIntent, [sampleShopper({ visitor: { email: sha256('x@example.com') } })]) as {
    userData: Record<string, unknown>;
  }[];
  expect(row?.userData).toMatchObject({ sha2: sha256('x@example.com') });
  expect(row?.userData).not.toHaveProperty('md5');
});

test('LiveIntent: a 200 refuses some conversions without naming them, a 204 none', () => {
  const { readAnswer } = liveIntent.prepare(liveIntent.exampleSettings);
  const read = (status: number) => readAnswer?.({ status, headers: {}, body: '' }, [sampleShopper(), sampleShopper()]);
  const refused = { kind: 'reject', reason: 'row refused', unnamed: 'some' };
  expect(read(200)).toEqual([refused, refused]);
  expect([read(204), read(400), read(503)]).toEqual([undefined, undefined, undefined]);
});

test('LiveIntent: purchases count as conversions, and an unknown visitor is unfit', () => {
  const prepared = liveIntent.prepare(liveIntent.exampleSettings);
  const accepts = (event: string) => prepared.accepts?.(sampleShopper({ event }));
  expect(['Order Completed', 'Page Viewed'].map(accepts)).toEqual([true, false]);
  expect(() => requestOf(liveIntent, [sampleStranger()])).toThrow('LiveIntent needs an e-mail address');
});
