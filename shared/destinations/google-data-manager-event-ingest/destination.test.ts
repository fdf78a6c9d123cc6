import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../runtime/json.ts';
import type { OutboundEvent } from '../sdk/destination.ts';
import { googleEmail } from '../sdk/google-person.ts';
import { sampleShopper, sampleStranger } from '../testing/sample-shopper.ts';
import { google, googleAds360, googleDataManagerEventIngest } from './destination.ts';

const settings = { ...googleDataManagerEventIngest.exampleSettings, operatingAccountId: '123-456-7890' };
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

function sent(event: OutboundEvent, more: JsonObject = {}, kind = googleDataManagerEventIngest) {
  const request = kind.prepare({ ...settings, ...more }).buildRequest([event], 0);
  return { request, body: JSON.parse(request.body ?? '') as { destinations: JsonObject[]; events: JsonObject[] } };
}

describe('Google Data Manager', () => {
  it('request: a purchase as the API documents it', () => {
    const click = { gclid: 'Cj0', current_url: 'https://shop.example.com/' };
    const { request, body } = sent(sampleShopper({ context: click, visitor: { zip: 'SW1A 1AA' } }));
    expect(request).toMatchObject({ method: 'POST', url: 'https://datamanager.googleapis.com/v1/events:ingest' });
    expect(request.oauth?.grant).toMatchObject({
      tokenUrl: 'https://oauth2.googleapis.com/token',
      by: { kind: 'service-account', issuer: 'sluice@example-project.iam.gserviceaccount.com' },
      scope: 'https://www.googleapis.com/auth/datamanager',
    });
    expect(body).toEqual({
      destinations: [
        {
          operatingAccount: { accountType: 'GOOGLE_ADS', accountId: '1234567890' },
          productDestinationId: '987654321',
        },
      ],
      encoding: 'HEX',
      events: [
        {
          transactionId: 'A-1001',
          eventTimestamp: '2023-11-14T22:13:20.000Z',
          eventSource: 'WEB',
          adIdentifiers: { gclid: 'Cj0' },
          userData: {
            userIdentifiers: [
              { emailAddress: sha256('ada@example.com') },
              { phoneNumber: sha256('+448444124653') },
              {
                address: {
                  givenName: sha256('ada'),
                  familyName: sha256('lovelace'),
                  regionCode: 'GB',
                  postalCode: 'SW1A 1AA',
                },
              },
            ],
          },
          conversionValue: 42.5,
          currency: 'EUR',
        },
      ],
    });
  });

  it('account: the account type is that of the kind or setting, and a manager account may be named', () => {
    const accounts = [
      sent(sampleShopper(), { accountType: 'FLOODLIGHT_CONFIG' }),
      sent(sampleShopper(), {}, google),
      sent(sampleShopper(), { loginAccountId: '555' }, googleAds360),
    ].map(({ body }) => body.destinations[0]);
    expect(accounts).toMatchObject([
      { operatingAccount: { accountType: 'FLOODLIGHT_CONFIG' } },
      { operatingAccount: { accountType: 'GOOGLE_ADS' } },
      {
        operatingAccount: { accountType: 'FLOODLIGHT_CONFIG' },
        loginAccount: { accountType: 'FLOODLIGHT_CONFIG', accountId: '555' },
      },
    ]);
  });

  it('consent: is sent as the event says', () => {
    const consent = { ad_user_data: 'GRANTED', ad_personalization: 'DENIED' };
    expect(sent(sampleShopper({ properties: { consent } })).body.events[0]).toMatchObject({
      transactionId: 'order-event-1',
      consent: { adUserData: 'CONSENT_GRANTED', adPersonalization: 'CONSENT_DENIED' },
    });
  });

  it('events: only events that the settings name are accepted, in any letter case', () => {
    const prepared = googleDataManagerEventIngest.prepare({ ...settings, eventNames: 'order completed, Lead' });
    expect(prepared.accepts?.(sampleShopper())).toBe(true);
    expect(prepared.accepts?.(sampleShopper({ event: 'Signed Up' }))).toBe(false);
    expect(prepared.accepts?.(sampleShopper({ event: '$identify' }))).toBe(false);
  });

  it('unfit: a visitor that Google cannot match', () => {
    expect(() => sent(sampleStranger())).toThrow('Google needs');
  });

  it('credentials: either a refresh token with its client or a service account; a missing setting is named', () => {
    const { serviceAccountKey: _, ...rest } = settings as JsonObject;
    const user = { clientId: 'id', clientSecret: 'secret', refreshToken: 'refresh' };
    const request = google.prepare({ ...rest, ...user }).buildRequest([sampleShopper()], 0);
    expect(request.oauth?.grant).toMatchObject({
      by: { kind: 'refresh-token', refreshToken: 'refresh' },
      client: { id: 'id', secret: 'secret', sentIn: 'body' },
    });
    expect(() => google.prepare(rest)).toThrow('settings.serviceAccountKey is required');
    expect(() => google.prepare({ ...rest, ...user, clientSecret: '' })).toThrow('settings.clientSecret');
    expect(() => google.prepare({ ...rest, serviceAccountKey: '{}' })).toThrow('settings.serviceAccountKey');
  });

  it.each([
    ['Cloudy.SanFrancisco+shopping@Gmail.com', 'cloudysanfrancisco@gmail.com'],
    ['user.name+NYC@Example.com', 'user.name+nyc@example.com'],
    [' a da@example.com', 'ada@example.com'],
    ['nobody', undefined],
    ['+news@gmail.com', undefined],
    ['...@gmail.com', undefined],
  ])('address: %s is hashed as %s', (text, form) => {
    expect(googleEmail(text)).toBe(form);
  });
});
