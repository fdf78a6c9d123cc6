import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import { platformEvents } from '../sdk/platform-events.ts';
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

const own = [...new Set(Object.values(platformEvents.YelpCAPI.names))].join('|');

const row = Type.Object({
  event_id: someText,
  event_time: epochSeconds,
  event_name: Type.String({ pattern: `^(${own}|custom_[A-Za-z0-9_-]+)$` }),
  action_source: oneOf('website', 'app', 'physical_store'),
  user_data: partly({
    em: sha256List,
    ph: sha256List,
    external_id: sha256List,
    fn: sha256Hex,
    ln: sha256Hex,
    ge: sha256Hex,
    db: sha256Hex,
    ct: sha256List,
    st: sha256List,
    zp: sha256List,
    country: sha256List,
    client_ip_address: someText,
    client_user_agent: someText,
  }),
  custom_data: Type.Optional(
    Type.Object({ value: Type.Optional(Type.Number()), currency: Type.Optional(currencyCode) }),
  ),
});

/** Conversions of Yelp, which accepts all rows or none. https://docs.developer.yelp.com/docs/conversions-api */
export const yelpCapiPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/v3/conversion/events',
      credentials: inHeader(),
      content: 'json',
      body: Type.Object({ test_event: Type.Boolean(), events: anyRows }),
      rows: [{ at: 'events', schema: row }],
      rowsMax: 1_000,
    },
  ],
  answers: {
    success: () => ({ status: 202, body: {} }),
    refusal: ({ field, message }) => failure(400, 'VALIDATION_ERROR', `${field} ${message}`),
    throttled: failure(429, 'TOO_MANY_REQUESTS_PER_SECOND', 'You have exceeded the queries-per-second limit'),
    endedToken: failure(401, 'TOKEN_INVALID', 'An invalid access token was supplied.'),
  },
});

function failure(status: number, code: string, description: string) {
  return { status, body: { error: { code, description } } };
}
