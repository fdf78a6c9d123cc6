import { Type } from 'typebox';
import { definePlatform, inQuery } from '../sdk/platform.ts';
import { anyRows, someText } from '../sdk/platform-schemas.ts';

const row = Type.Object({
  name: Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_]{0,39}$' }),
  timestamp_micros: Type.Integer({ minimum: 1_000_000_000_000_000, maximum: 9_000_000_000_000_000 }),
  params: Type.Object({}, { maxProperties: 25 }),
});

const common = { user_id: Type.Optional(Type.String({ maxLength: 256 })), events: anyRows } as const;

/**
 * The Measurement Protocol. The real one answers 2xx to every request and ignores what it cannot use; this one
 * refuses that, as the validation server (`/debug/mp/collect`) would name it.
 * https://developers.google.com/analytics/devguides/collection/protocol/ga4/reference
 */
export const measurementProtocolPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/mp/collect',
      credentials: inQuery('api_secret'),
      query: Type.Union([
        Type.Object({ measurement_id: Type.String({ pattern: '^G-[A-Z0-9]+$' }) }),
        Type.Object({ firebase_app_id: Type.String({ pattern: '^\\d+:\\d+:(ios|android):[0-9a-f]+$' }) }),
      ]),
      content: 'json',
      body: Type.Union([
        Type.Object({ client_id: someText, ...common }),
        Type.Object({ app_instance_id: someText, ...common }),
      ]),
      rows: [{ at: 'events', schema: row }],
      rowsMax: 25,
      bytesMax: 130_000,
    },
  ],
  answers: {
    success: () => ({ status: 204 }),
    refusal: ({ field, message }) => ({
      status: 400,
      body: { validationMessages: [{ fieldPath: field, description: message, validationCode: 'VALUE_INVALID' }] },
    }),
    throttled: { status: 429, headers: { 'retry-after': '7' } },
    endedToken: { status: 403 },
  },
});
