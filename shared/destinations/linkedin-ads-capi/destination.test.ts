import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { OutboundEvent } from '../sdk/destination.ts';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { linkedinAdsCapi } from './destination.ts';

const settings = { conversionId: '104012', accessToken: 'example-token', eventNames: 'Order Completed' };
const nowMs = 1_700_000_060_000;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

function sent(event: OutboundEvent, more: Readonly<Record<string, unknown>> = {}) {
  const request = linkedinAdsCapi.prepare({ ...settings, ...more }).buildRequest([event], nowMs);
  return { request, body: JSON.parse(request.body ?? '') as { elements: Record<string, unknown>[] } };
}

function kinds(status: number, body: unknown) {
  const answer = { status, headers: {}, body: JSON.stringify(body) };
  const events = [sampleShopper(), sampleShopper(), sampleShopper()];
  return linkedinAdsCapi
    .prepare(settings)
    .readAnswer?.(answer, events)
    ?.map(({ kind }) => kind);
}

describe('LinkedInAdsCAPI', () => {
  it('request: a batch of conversion events as documented', () => {
    const visitor = { job_title: 'Engineer', company_name: 'Analytical Engines' };
    const context = { current_url: 'https://shop.example.com/?li_fat_id=df5gf5-gh6t7-ph4j7h-fgf6n1' };
    const { request, body } = sent(sampleShopper({ visitor, context }));
    expect(request).toMatchObject({
      method: 'POST',
      url: 'https://api.linkedin.com/rest/conversionEvents',
      headers: {
        authorization: 'Bearer example-token',
        'linkedin-version': '202607',
        'x-restli-protocol-version': '2.0.0',
        'x-restli-method': 'BATCH_CREATE',
      },
    });
    expect(body).toEqual({
      elements: [
        {
          conversion: 'urn:lla:llaPartnerConversion:104012',
          conversionHappenedAt: 1_700_000_000_000,
          conversionValue: { currencyCode: 'EUR', amount: '42.5' },
          user: {
            userIds: [
              { idType: 'SHA256_EMAIL', idValue: sha256('ada@example.com') },
              { idType: 'LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID', idValue: 'df5gf5-gh6t7-ph4j7h-fgf6n1' },
            ],
            userInfo: {
              firstName: 'Ada',
              lastName: 'Lovelace',
              title: 'Engineer',
              companyName: 'Analytical Engines',
              countryCode: 'GB',
            },
          },
          eventId: 'order-event-1',
        },
      ],
    });
  });

  it('person: the list of ids is sent even if it is empty; names are sent together or not at all', () => {
    const byName = sampleShopper({ visitor: { email: undefined }, context: {} });
    expect(sent(byName).body.elements[0]?.['user']).toMatchObject({ userIds: [], userInfo: { lastName: 'Lovelace' } });
    const noLastName = sampleShopper({ visitor: { last_name: undefined } });
    expect(sent(noLastName).body.elements[0]?.['user']).not.toHaveProperty('userInfo');
    expect(() => sent(sampleStranger())).toThrow('LinkedIn needs');
    expect(() => sent(sampleShopper({ time: nowMs - 91 * 86_400_000 }))).toThrow('older than 90 days');
  });

  it('settings: the rule may be a number or a URN; the API version and the accepted event names can be set', () => {
    const more = {
      conversionId: 'urn:lla:llaPartnerConversion:7',
      apiVersion: '202611',
      eventNames: 'Lead, order completed',
    };
    const { request, body } = sent(sampleShopper(), more);
    expect(request.headers['linkedin-version']).toBe('202611');
    expect(body.elements[0]).toMatchObject({ conversion: 'urn:lla:llaPartnerConversion:7' });
    const { accepts } = linkedinAdsCapi.prepare({ ...settings, ...more });
    expect([sampleShopper(), sampleShopper({ event: 'Page Viewed' })].map((event) => accepts?.(event))).toEqual([
      true,
      false,
    ]);
    expect(linkedinAdsCapi.prepare(settings).accepts?.(sampleShopper())).toBe(true);
    const { eventNames: _names, ...unnamed } = settings;
    expect(linkedinAdsCapi.prepare(unnamed).accepts?.(sampleShopper())).toBe(false);
    expect(linkedinAdsCapi.prepare(settings).accepts?.(sampleShopper({ event: '$identify' }))).toBe(false);
    expect(() => linkedinAdsCapi.prepare({ ...settings, conversionId: 'x' })).toThrow('settings.conversionId');
    expect(() => linkedinAdsCapi.prepare({ ...settings, apiVersion: 'x' })).toThrow('settings.apiVersion');
  });

  it('answer: each event has the outcome of its element', () => {
    const elements = [{ status: 201 }, { status: 400 }, { status: 429 }];
    expect(kinds(200, { elements })).toEqual(['delivered', 'reject', 'retry']);
    expect(kinds(200, { elements: [{ status: 201 }] })).toBeUndefined();
    expect(kinds(500, { elements })).toBeUndefined();
    expect(kinds(201, '')).toBeUndefined();
  });

  it('answer: a 422 names the refused events, and the others are tried again', () => {
    const message = 'Index: 0, ERROR :: /user is required\nIndex: 2, ERROR :: /conversionHappenedAt is too old\n';
    expect(kinds(422, { status: 422, message })).toEqual(['reject', 'retry', 'reject']);
    expect(kinds(422, { status: 422, message: 'Unprocessable' })).toBeUndefined();
  });
});
