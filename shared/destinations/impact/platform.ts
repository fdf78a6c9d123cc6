import { Type } from 'typebox';
import { definePlatform, inHeader, noCredentials } from '../sdk/platform.ts';
import { currencyCode, instant, someText } from '../sdk/platform-schemas.ts';

/**
 * Conversions and page loads of impact.com, as forms; a 400 names the invalid fields.
 * https://github.com/api-evangelist/impact
 */
export const impactPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/PageLoad',
      credentials: noCredentials,
      content: 'form',
      body: Type.Object({
        CampaignId: Type.String({ pattern: String.raw`^\d+$` }),
        PageUrl: Type.Optional(someText),
        EventDate: instant,
        PropertyId: Type.Optional(Type.String({ pattern: String.raw`^\d+$` })),
        CustomerId: Type.Optional(Type.String({ pattern: '^[^@]+$' })),
        CustomerEmail: Type.Optional(Type.String({ pattern: '^[0-9a-f]{40}$' })),
      }),
      rows: [],
      answers: { success: () => ({ status: 200, body: { clickId: '2a5b' } }) },
    },
    {
      method: 'POST',
      path: '/Advertisers/{account}/Conversions',
      credentials: inHeader('authorization', /^Basic \S+$/),
      content: 'form',
      body: Type.Object({
        CampaignId: someText,
        ActionTrackerId: someText,
        EventDate: instant,
        OrderId: someText,
        ClickId: Type.Optional(someText),
        CustomerId: Type.Optional(someText),
        CustomerEmail: Type.Optional(Type.String({ pattern: '^[0-9a-f]{40}$' })),
        CurrencyCode: Type.Optional(currencyCode),
      }),
    },
  ],
  answers: {
    success: () => ({
      status: 200,
      body: { Status: 'QUEUED', QueuedUri: '/Advertisers/IRExample/APISubmissions/A-0a1b' },
    }),
    refusal: ({ field, message }) => ({
      status: 400,
      body: { Status: 'ERROR', errors: [{ field, level: 'ERROR', message }] },
    }),
    throttled: {
      status: 429,
      headers: { 'retry-after': '7' },
      body: { Status: 'ERROR', Message: 'Rate limit exceeded' },
    },
    endedToken: { status: 401, body: { Status: 'ERROR', Message: 'Access Denied' } },
  },
});
