import { Type } from 'typebox';
import { definePlatform, inQuery } from '../sdk/platform.ts';
import type { PlatformProblem } from '../sdk/platform.ts';
import { anyRows, someText } from '../sdk/platform-schemas.ts';

const row = Type.Object({
  name: Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_]{0,39}$' }),
  timestamp_micros: Type.Integer({ minimum: 1_000_000_000_000_000, maximum: 9_000_000_000_000_000 }),
  params: Type.Object({}, { maxProperties: 25 }),
});

const common = { user_id: Type.Optional(Type.String({ maxLength: 256 })), events: anyRows } as const;

const endpoint = {
  method: 'POST',
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
} as const;

const messages = ({ field, message }: PlatformProblem) => ({
  validationMessages: [{ fieldPath: field, description: message, validationCode: 'VALUE_INVALID' }],
});

/**
 * The Measurement Protocol. Google responds 2xx to every request and ignores what it cannot use; this platform refuses
 * such a request, with the response of the validation server (`/debug/mp/collect`).
 * https://developers.google.com/analytics/devguides/collection/protocol/ga4/reference
 */
export const measurementProtocolPlatform = definePlatform({
  endpoints: [
    {
      ...endpoint,
      path: '/debug/mp/collect',
      answers: {
        success: () => ({ status: 200, body: { validationMessages: [] } }),
        refusal: (problem) => ({ status: 200, body: messages(problem) }),
      },
    },
    { ...endpoint, path: '/mp/collect' },
  ],
  answers: {
    success: () => ({ status: 204 }),
    refusal: (problem) => ({ status: 400, body: messages(problem) }),
    throttled: { status: 429, headers: { 'retry-after': '7' } },
    endedToken: { status: 403 },
  },
});
