import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import { anyRows, currencyCode, instant, oneOf, someText } from '../sdk/platform-schemas.ts';

const row = Type.Object({
  accountId: Type.Integer(),
  advertisers: Type.Array(Type.Integer(), { minItems: 1 }),
  salesData: Type.Object({
    transactionId: someText,
    conversionEventType: someText,
    conversionTimestamp: instant,
    identifiers: Type.Array(
      Type.Object({
        type: oneOf('email_sha256', 'phonenumber_sha256', 'address_sha256', 'ip', 'mobile_id', 'cookie'),
        value: someText,
      }),
      { minItems: 1 },
    ),
    amount: Type.Optional(Type.Number()),
    currency: Type.Optional(currencyCode),
    purchasedItems: Type.Optional(
      Type.Array(
        Type.Object({
          itemId: Type.Optional(someText),
          productName: Type.Optional(someText),
          quantity: Type.Optional(Type.Integer()),
          price: Type.Optional(Type.Number()),
        }),
      ),
    ),
  }),
});

/**
 * Conversions of Viant: a list, accepted or refused as a whole.
 * https://docs.tealium.com/server-side-connectors/viant-vdp-conversion-api/
 */
export const viantPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/v1/conversions',
      credentials: inHeader(),
      content: 'json',
      body: anyRows,
      rows: [{ at: '', schema: row }],
      bytesMax: 10_000_000,
    },
  ],
  answers: {
    success: () => ({ status: 200, body: { message: 'OK' } }),
    refusal: ({ field, message }) => ({ status: 400, body: { message: `${field} ${message}` } }),
    throttled: { status: 429, headers: { 'retry-after': '7' }, body: { message: 'Too many requests' } },
    endedToken: { status: 401, body: { message: 'Jwt is expired' } },
  },
});
