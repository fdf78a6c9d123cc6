import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import { anyRows, currencyCode, instant, partly, sha256Hex, someText } from '../sdk/platform-schemas.ts';

const identifier = partly({
  twclid: someText,
  hashed_email: sha256Hex,
  hashed_phone_number: sha256Hex,
  ip_address: someText,
  user_agent: someText,
});

const row = Type.Object(
  {
    conversion_time: instant,
    event_id: Type.String({ pattern: '^(tw-[a-z0-9]+-)?[a-z0-9]+$' }),
    identifiers: Type.Array(identifier, { minItems: 1 }),
    conversion_id: Type.Optional(someText),
    number_items: Type.Optional(Type.Integer({ minimum: 1 })),
    price_currency: Type.Optional(currencyCode),
    value: Type.Optional(Type.String({ pattern: String.raw`^-?\d+(\.\d+)?$` })),
    contents: Type.Optional(
      Type.Array(
        partly({
          content_id: someText,
          content_name: someText,
          content_type: someText,
          content_price: Type.String({ pattern: String.raw`^-?\d+\.\d+$` }),
          content_group_id: someText,
          num_items: Type.Integer(),
        }),
      ),
    ),
  },
  { additionalProperties: false },
);

const signed =
  /^OAuth (?=.*oauth_consumer_key=")(?=.*oauth_token=")(?=.*oauth_nonce=")(?=.*oauth_timestamp="\d+")(?=.*oauth_signature_method="HMAC-SHA1")(?=.*oauth_signature=")/;

const error = (code: string, message: string) => ({
  errors: [{ code, message, parameter: '' }],
  request: { params: {} },
});

/**
 * Web conversions: X accepts all rows or none.
 * https://developer.x.com/en/docs/x-ads-api/measurement/web-conversions/conversions
 */
export const xAdsPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/12/measurement/conversions/{pixel}',
      credentials: inHeader('authorization', signed),
      content: 'json',
      body: Type.Object({ conversions: anyRows }),
      rows: [
        {
          at: 'conversions',
          schema: row,
          check(given) {
            const { identifiers } = given as { identifiers: readonly object[] };
            const isKnown = identifiers.some((one) =>
              ['twclid', 'hashed_email', 'hashed_phone_number'].some((name) => name in one),
            );
            return isKnown
              ? undefined
              : { field: 'identifiers', message: 'must include one that X can match by itself' };
          },
        },
      ],
      rowsMax: 500,
    },
  ],
  answers: {
    success: (rows) => ({
      status: 200,
      body: { request: { params: {} }, data: { conversions_processed: rows.length, debug_id: 'ff5b3f2c' } },
    }),
    refusal: ({ field, message }) => ({ status: 400, body: error('INVALID_PARAMETER', `${field} ${message}`) }),
    throttled: { status: 429, headers: { 'retry-after': '7' }, body: error('TOO_MANY_REQUESTS', 'Too many requests') },
    endedToken: { status: 401, body: error('UNAUTHORIZED_ACCESS', 'This request is not properly authenticated') },
  },
});
