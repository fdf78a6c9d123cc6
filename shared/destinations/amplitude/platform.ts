import { Type } from 'typebox';
import { definePlatform, inBody } from '../sdk/platform.ts';
import type { PlatformEndpoint } from '../sdk/platform.ts';
import { anyRows, epochMs, someText } from '../sdk/platform-schemas.ts';

const row = Type.Object({
  event_type: someText,
  time: epochMs,
  insert_id: someText,
  device_id: Type.Optional(someText),
  user_id: Type.Optional(someText),
  event_properties: Type.Optional(Type.Object({})),
  user_properties: Type.Optional(Type.Object({})),
  revenue: Type.Optional(Type.Number()),
  price: Type.Optional(Type.Number()),
  quantity: Type.Optional(Type.Integer()),
  productId: Type.Optional(someText),
  revenueType: Type.Optional(someText),
  groups: Type.Optional(Type.Object({})),
  group_properties: Type.Optional(Type.Object({})),
  session_id: Type.Optional(Type.Integer({ minimum: -1 })),
  app_version: Type.Optional(someText),
  platform: Type.Optional(someText),
  language: Type.Optional(someText),
  user_agent: Type.Optional(someText),
});

const endpoint = (path: string, bytesMax: number): PlatformEndpoint => ({
  method: 'POST',
  path,
  credentials: inBody('api_key'),
  content: 'json',
  body: Type.Object({ api_key: someText, events: anyRows }),
  rows: [{ at: 'events', schema: row }],
  rowsMax: 2_000,
  bytesMax,
});

/**
 * HTTP V2 API and Batch Event Upload: both accept all events or none, and list the invalid ones by field.
 * https://amplitude.com/docs/apis/analytics/http-v2, https://amplitude.com/docs/apis/analytics/batch-event-upload
 */
export const amplitudePlatform = definePlatform({
  endpoints: [endpoint('/2/httpapi', 1_000_000), endpoint('/batch', 20_000_000)],
  answers: {
    success: (rows) => ({
      status: 200,
      body: { code: 200, events_ingested: rows.length, payload_size_bytes: 1, server_upload_time: 1_700_000_000_000 },
    }),
    refusal: ({ field, message, row: place }) => ({
      status: 400,
      body: {
        code: 400,
        error: message,
        ...(place === undefined
          ? { missing_field: field }
          : { events_with_invalid_fields: { [field.split('.').at(2) ?? 'event_type']: [place] } }),
      },
    }),
    throttled: { status: 429, body: { code: 429, error: 'Too many requests for some devices and users' } },
    endedToken: { status: 400, body: { code: 400, error: 'Invalid API key: the key is not valid' } },
    tooLarge: { status: 413, body: { code: 413, error: 'Payload too large' } },
  },
});
