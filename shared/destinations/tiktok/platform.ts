import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import {
  anyRows,
  currencyCode,
  epochSeconds,
  oneOf,
  partly,
  sha256Hex,
  sha256List,
  someText,
} from '../sdk/platform-schemas.ts';

const user = partly({
  email: sha256List,
  phone: sha256List,
  external_id: sha256List,
  ttclid: someText,
  ttp: someText,
  ip: someText,
  user_agent: someText,
  first_name: sha256Hex,
  last_name: sha256Hex,
  zip_code: sha256Hex,
  city: someText,
  state: someText,
  country: someText,
  locale: someText,
  idfa: sha256Hex,
  gaid: sha256Hex,
  idfv: someText,
  att_status: oneOf('AUTHORIZED', 'DENIED', 'NOT_DETERMINED', 'RESTRICTED', 'NOT_APPLICABLE'),
});

const row = Type.Object({
  event: someText,
  event_time: epochSeconds,
  event_id: Type.Optional(someText),
  user,
  app: Type.Optional(
    Type.Object({
      app_id: someText,
      app_name: Type.Optional(someText),
      app_version: Type.Optional(someText),
    }),
  ),
  properties: Type.Optional(
    Type.Partial(
      Type.Object({
        value: Type.Number(),
        currency: currencyCode,
        predicted_ltv: Type.Number(),
        mileage: Type.Object({ value: Type.Number(), unit: someText }, { additionalProperties: false }),
        preferred_price_range: Type.Array(Type.Number(), { minItems: 2, maxItems: 2 }),
        destination_ids: Type.Array(someText),
        suggested_hotels: Type.Array(someText),
        suggested_destinations: Type.Array(someText),
      }),
    ),
  ),
});

/**
 * Events API 2.0: TikTok always responds 200, with the result as a `code`. If one row is invalid, TikTok refuses all
 * rows, and the message names the invalid row. https://business-api.tiktok.com/portal/docs?id=1771100865818625
 */
export const tiktokPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/open_api/v1.3/event/track/',
      credentials: inHeader('access-token', /^\S+$/),
      content: 'json',
      body: Type.Object({
        event_source: oneOf('web', 'offline', 'crm', 'app'),
        event_source_id: someText,
        data: anyRows,
      }),
      rows: [{ at: 'data', schema: row }],
      rowsMax: 1_000,
    },
  ],
  answers: {
    success: () => said(0, 'OK'),
    refusal: ({ field, message, row: place }) =>
      said(40_002, place === undefined ? `${field}: ${message}` : `Batch.${place}.${field}: ${message}`),
    throttled: said(40_100, 'Too many requests. Please retry in some time.'),
    endedToken: said(40_105, 'Access token is incorrect or has been revoked.'),
    unavailable: said(50_000, 'System error'),
  },
});

function said(code: number, message: string) {
  return { status: 200, body: { code, message, request_id: '20231114221320010245', data: {} } };
}
