import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import { anyRows, currencyCode, epochMs, oneOf, someText } from '../sdk/platform-schemas.ts';

const dayMs = 86_400_000;

const row = Type.Object({
  conversion: Type.String({ pattern: String.raw`^urn:lla:llaPartnerConversion:\d+$` }),
  conversionHappenedAt: epochMs,
  conversionValue: Type.Optional(
    Type.Object({ currencyCode, amount: Type.String({ pattern: String.raw`^-?\d+(\.\d+)?$` }) }),
  ),
  user: Type.Object({
    userIds: Type.Array(
      Type.Object({
        idType: oneOf('SHA256_EMAIL', 'LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID', 'ACXIOM_ID', 'ORACLE_MOAT_ID'),
        idValue: someText,
      }),
    ),
    userInfo: Type.Optional(Type.Object({ firstName: someText, lastName: someText })),
  }),
  eventId: Type.Optional(someText),
});

/**
 * Conversions API as a Rest.li batch: each element of a response has its own status. If one element is invalid,
 * LinkedIn refuses all with a 422 that names it.
 * https://learn.microsoft.com/en-us/linkedin/marketing/integrations/ads-reporting/conversions-api
 */
export const linkedinPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/rest/conversionEvents',
      credentials: inHeader(),
      headers: {
        'linkedin-version': /^20\d{4}$/,
        'x-restli-protocol-version': /^2\.0\.0$/,
        'x-restli-method': /^BATCH_CREATE$/,
      },
      content: 'json',
      body: Type.Object({ elements: anyRows }),
      rows: [
        {
          at: 'elements',
          schema: row,
          check(element, nowMs) {
            const { conversionHappenedAt } = element as { conversionHappenedAt: number };
            const isOld = nowMs - conversionHappenedAt > 90 * dayMs;
            return isOld ? { field: 'conversionHappenedAt', message: 'is more than 90 days ago' } : undefined;
          },
        },
      ],
      rowsMax: 5_000,
    },
  ],
  answers: {
    success: (rows) => ({ status: 200, body: { elements: rows.map(() => ({ status: 201 })) } }),
    refusal: ({ field, message, row: place }) => ({
      status: 422,
      body: {
        status: 422,
        code: 'VALIDATION_ERROR',
        message: place === undefined ? `${field} ${message}` : `Index: ${place}, ERROR :: /${field} :: ${message}`,
      },
    }),
    throttled: {
      status: 429,
      headers: { 'retry-after': '7' },
      body: { status: 429, code: 'TOO_MANY_REQUESTS', message: 'Resource level throttle limit reached' },
    },
    endedToken: {
      status: 401,
      body: { status: 401, serviceErrorCode: 65_602, code: 'EXPIRED_ACCESS_TOKEN', message: 'The token has expired' },
    },
  },
});
