import { Type } from 'typebox';
import { isJsonObject } from '../../runtime/json.ts';
import { definePlatform, noCredentials } from '../sdk/platform.ts';
import { anyRows, currencyCode, oneOf, someText, webAddress } from '../sdk/platform-schemas.ts';

const row = Type.Object({
  adv: someText,
  tracker_id: someText,
  event_name: someText,
  adid: Type.Optional(someText),
  adid_type: Type.Optional(oneOf('TDID', 'IDFA', 'AAID', 'DAID', 'NAID', 'IDL', 'EUID', 'UID2')),
  imp: Type.Optional(someText),
  privacy_settings: Type.Optional(
    Type.Array(
      Type.Object({
        privacy_type: someText,
        is_applicable: Type.Integer(),
        consent_string: Type.Optional(Type.String()),
      }),
    ),
  ),
  client_ip: Type.Optional(someText),
  referrer_url: Type.Optional(webAddress),
  value: Type.Optional(Type.Number()),
  currency: Type.Optional(currencyCode),
  order_id: Type.Optional(someText),
  items: Type.Optional(
    Type.Array(
      Type.Object({ qty: Type.Integer(), item_code: Type.Optional(someText), price: Type.Optional(Type.Number()) }),
    ),
  ),
});

/**
 * Real-time conversions of The Trade Desk, which accepts all rows or none. There are no credentials besides the
 * advertiser and tracking tag in each row.
 * https://partner.thetradedesk.com/v3/portal/data/doc/DataConversionEventsApi
 */
export const theTradeDeskPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/track/realtimeconversion',
      credentials: noCredentials,
      content: 'json',
      body: Type.Object({ data: anyRows }),
      rows: [
        {
          at: 'data',
          schema: row,
          check: (given) =>
            isJsonObject(given) && 'adid' in given !== 'adid_type' in given
              ? { field: 'adid_type', message: 'must be sent together with adid' }
              : undefined,
        },
      ],
    },
  ],
  answers: {
    success: () => ({ status: 200, body: { Message: 'OK' } }),
    refusal: ({ field, message }) => ({ status: 400, body: { Message: `${field} ${message}` } }),
    throttled: { status: 429 },
    endedToken: { status: 403, body: { Message: 'Advertiser and tracking tag do not match' } },
  },
});
