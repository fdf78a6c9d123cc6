import { Type } from 'typebox';
import { isJsonObject } from '../../runtime/json.ts';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import { anyRows, currencyCode, epochMs, partly, sha256Hex, someText } from '../sdk/platform-schemas.ts';

const conversion = Type.Object({
  event_type: Type.Literal('custom_event'),
  data: Type.Object({
    custom_event_type: Type.Literal('transaction'),
    event_name: Type.Literal('conversion'),
    source_message_id: someText,
    timestamp_unixtime_ms: epochMs,
    custom_attributes: Type.Object({
      conversiontype: someText,
      confirmationref: someText,
      amount: Type.Optional(Type.Number()),
      currency: Type.Optional(currencyCode),
    }),
  }),
});

const row = Type.Object({
  environment: Type.Literal('production'),
  user_identities: Type.Object(
    {
      other: Type.Optional(sha256Hex),
      customerid: Type.Optional(someText),
      other2: Type.Optional(someText),
    },
    { additionalProperties: false },
  ),
  user_attributes: partly({
    firstnamesha256: sha256Hex,
    lastnamesha256: sha256Hex,
    mobilesha256: sha256Hex,
    billingzipsha256: sha256Hex,
  }),
  device_info: partly({
    http_header_user_agent: someText,
    ios_advertising_id: someText,
    android_advertising_id: someText,
    ios_idfv: someText,
  }),
  ip: Type.Optional(someText),
  events: Type.Array(conversion, { minItems: 1 }),
});

const deviceIds = ['ios_advertising_id', 'android_advertising_id', 'ios_idfv'];

/** The problem of an event that identifies neither a person nor a device. */
function unknownPerson(given: unknown) {
  const { user_identities: person, device_info: device } = isJsonObject(given) ? given : {};
  const isKnown = isJsonObject(person) && Object.keys(person).length > 0;
  const hasDevice = isJsonObject(device) && deviceIds.some((name) => name in device);
  return isKnown || hasDevice ? undefined : { field: 'user_identities', message: 'no identity' };
}

/**
 * The event platform that receives Rokt's conversions, and accepts all rows or none.
 * https://docs.mparticle.com/developers/apis/http/
 */
export const roktPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/s2s/v2/bulkevents',
      credentials: inHeader('authorization', /^Basic \S+$/),
      content: 'json',
      body: anyRows,
      rows: [{ at: '', schema: row, check: unknownPerson }],
      rowsMax: 100,
    },
  ],
  answers: {
    success: () => ({ status: 202 }),
    refusal: ({ field, message }) => failure(400, 'BAD_REQUEST', `${field} ${message}`),
    throttled: { ...failure(429, 'TOO_MANY_REQUESTS', 'Too many requests'), headers: { 'retry-after': '7' } },
    endedToken: failure(401, 'UNAUTHORIZED', 'The API key or secret is wrong'),
    unavailable: { status: 503, headers: { 'retry-after': '7' } },
  },
});

function failure(status: number, code: string, message: string) {
  return { status, body: { errors: [{ code, message }] } };
}
