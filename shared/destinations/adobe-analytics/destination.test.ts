import { describe, expect, it } from 'vitest';
import type { OutboundEvent } from '../sdk/destination.ts';
import { sampleEvent } from '../sdk/sample-event.ts';
import { adobeAnalytics } from './destination.ts';

const prepared = adobeAnalytics.prepare(adobeAnalytics.exampleSettings);
const sent = (outbound: OutboundEvent, settings = {}): Record<string, string> => {
  const { body } = adobeAnalytics
    .prepare({ ...adobeAnalytics.exampleSettings, ...settings })
    .buildRequest([outbound], 0);
  return Object.fromEntries(new URLSearchParams(body));
};
const withProperties = (event_properties: Record<string, unknown>, event = 'Order Completed'): OutboundEvent => ({
  resolved: sampleEvent({ event, event_properties }),
});

describe('AdobeAnalytics', () => {
  it('request: a hit between its delimiters, with the address and User-Agent of the visitor', () => {
    const products = [
      { product_id: 'tea-1', category: 'Hot; drinks', price: 21.25, quantity: 2 },
      { name: 'Cup', price: '5' },
    ];
    const given = {
      order_id: 'A-1001',
      currency: 'eur',
      products,
      gift: true,
      ship: { city: 'Bonn' },
      tags: ['a', 'b'],
    };
    const request = prepared.buildRequest([withProperties(given)], 0);
    expect(request).toMatchObject({
      method: 'POST',
      url: 'https://example.data.adobedc.net/b/ss/examplersid/2/s1700000000000',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)',
        'x-forwarded-for': '203.0.113.7',
      },
    });
    const page = encodeURIComponent('https://shop.example.com/thanks?utm_source=mail');
    expect(request.body?.split('&')).toEqual([
      'AQB=1',
      'ts=1700000000',
      'vid=samplevisitor',
      `g=${page}`,
      'pe=lnk_o',
      `pev1=${page}`,
      'pev2=Order%20Completed',
      'cc=EUR',
      'events=purchase',
      `products=${encodeURIComponent('Hot  drinks;tea-1;2;42.5,;Cup;1;5')}`,
      'purchaseID=A-1001',
      'xact=A-1001',
      'c.=',
      'order_id=A-1001',
      'currency=eur',
      'gift=true',
      'ship_city=Bonn',
      'tags=a%2Cb',
      '.c=',
      'AQE=1',
    ]);
  });

  it('page view: is sent as a page and not as a link, if the event has a page address or title', () => {
    const page = { current_url: 'https://shop.example.com/tea', title: 'Tea', referrer: 'https://search.example/' };
    const hit = sent({ resolved: sampleEvent({ event: 'Page Viewed', context: page, event_properties: {} }) });
    expect(hit).toMatchObject({ g: page.current_url, pageName: 'Tea', r: page.referrer });
    expect(Object.keys(hit)).not.toContain('pe');
    // Without a page address or title the event is sent as a custom link, which needs neither.
    const nowhere = sent({ resolved: sampleEvent({ event: 'Page Viewed', context: {}, event_properties: {} }) });
    expect(nowhere).toMatchObject({ pe: 'lnk_o', pev2: 'Page Viewed' });
  });

  it('variables: properties named like Adobe’s variables fill them, all others are context data', () => {
    const properties = {
      eVar5: 'pro',
      prop75: 1,
      list3: 'a,b',
      campaign: 'spring',
      eVar251: 'x',
      prop0: 'y',
      plan: 'z',
    };
    expect(sent({ resolved: sampleEvent(), mapped: { eventName: 'event12', properties } })).toMatchObject({
      events: 'event12',
      v5: 'pro',
      c75: '1',
      l3: 'a,b',
      v0: 'spring',
      eVar251: 'x',
      prop0: 'y',
      plan: 'z',
    });
  });

  it('visitor: identified by Adobe’s browser ids, else by the Sluice visitor id', () => {
    const organizationId = '0123456789ABCDEF01234567@AdobeOrg';
    const known = sent(withProperties({ ecid: '79616681662205094719519402412079274310' }), { organizationId });
    expect(known).toMatchObject({ mid: '79616681662205094719519402412079274310', mcorgid: organizationId });
    expect(known).not.toHaveProperty('vid');
    const { visitor, ...rest } = sampleEvent();
    expect(sent({ resolved: { ...rest, visitor: { ...visitor, id: 'größe' } } })['vid']).toMatch(/^[0-9a-f]{64}$/);
  });

  it('purchase: a long order id is sent as its hash', () => {
    const [one, other] = ['a', 'b'].map((end) => sent(withProperties({ order_id: `${'x'.repeat(30)}${end}` })));
    expect(one?.['purchaseID']).toMatch(/^[0-9a-f]{20}$/);
    expect(one?.['purchaseID']).not.toBe(other?.['purchaseID']);
  });

  it('timestamps: are left out for report suites that accept no timestamps', () => {
    expect(sent({ resolved: sampleEvent() }, { withoutTimestamps: true })).not.toHaveProperty('ts');
  });

  it('answer: a FAILURE in the headers of a successful answer is a refusal', () => {
    const event = [{ resolved: sampleEvent() }];
    const read = (headers: Record<string, string>) => prepared.readAnswer?.({ status: 204, headers, body: '' }, event);
    expect(read({ status: 'SUCCESS' })).toBeUndefined();
    expect(read({ status: 'FAILURE', reason: 'NO account' })).toEqual([
      { kind: 'reject', reason: 'Adobe refused the hit: NO account' },
    ]);
    expect(read({ status: 'FAILURE', reason: 'ada@example.com' })).toEqual([
      { kind: 'reject', reason: 'Adobe refused the hit' },
    ]);
  });

  it.each([
    ['reportSuiteIds', 'a b'],
    ['organizationId', 'nobody'],
    ['baseUrl', 'example.data.adobedc.net'],
  ])('prepare: refuses a bad %s', (key, value) => {
    expect(() => adobeAnalytics.prepare({ ...adobeAnalytics.exampleSettings, [key]: value })).toThrow(
      `settings.${key} `,
    );
  });
});
