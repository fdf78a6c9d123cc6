import { Type } from 'typebox';
import { isJsonObject } from '../../runtime/json.ts';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import {
  anyRows,
  currencyCode,
  epochMs,
  oneOf,
  partly,
  sha256Hex,
  someText,
  webAddress,
} from '../sdk/platform-schemas.ts';

const data = Type.Object({
  type: oneOf('contents', 'customer_action', 'plan_enrollment', 'custom'),
  amount: Type.Optional(Type.Integer()),
  currency: Type.Optional(currencyCode),
  contents: Type.Optional(
    Type.Array(Type.Object({ content_type: someText, amount: Type.Optional(Type.Integer()) }), { maxItems: 100 }),
  ),
});

const row = Type.Object({
  id: someText,
  type: someText,
  custom_event_name: Type.Optional(someText),
  timestamp_ms: epochMs,
  action_source: oneOf('web', 'mobile_app', 'offline', 'physical_store', 'phone_call', 'email', 'other'),
  source_url: Type.Optional(webAddress),
  user: Type.Optional(
    partly({
      email_sha256: sha256Hex,
      external_id_sha256: sha256Hex,
      country: Type.String({ pattern: '^[A-Z]{2}$' }),
      ip_address: someText,
      user_agent: someText,
    }),
  ),
  data,
});

/** Conversions of OpenAI Ads, which accepts all rows or none. https://developers.openai.com/ads/conversions-api */
export const openaiAdsPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/v1/events',
      credentials: inHeader(),
      query: Type.Object({ pid: someText }),
      content: 'json',
      body: Type.Object({ validate_only: Type.Boolean(), events: anyRows }),
      rows: [
        {
          at: 'events',
          schema: row,
          check: (given) =>
            isJsonObject(given) && given['action_source'] === 'web' && given['source_url'] === undefined
              ? { field: 'source_url', message: 'is required for web events' }
              : undefined,
        },
      ],
      rowsMax: 1_000,
    },
  ],
  answers: {
    success: (rows) => ({ status: 200, body: { events_received: rows.length } }),
    refusal: ({ field, message }) => failure(400, `${field} ${message}`),
    throttled: failure(429, 'Rate limit reached'),
    endedToken: failure(401, 'Incorrect API key provided'),
  },
});

function failure(status: number, message: string) {
  return { status, body: { error: { message, type: 'invalid_request_error' } } };
}
