import { Type } from 'typebox';
import { definePlatform, inBody } from '../sdk/platform.ts';
import { anyRows, instant, someText, uuidText } from '../sdk/platform-schemas.ts';

const row = Type.Object({
  uuid: uuidText,
  event: someText,
  distinct_id: Type.String({ minLength: 1, maxLength: 200 }),
  timestamp: instant,
  properties: Type.Object({ $process_person_profile: Type.Optional(Type.Boolean()) }),
});

/** Capture of batches: PostHog accepts all events or none. https://posthog.com/docs/api/capture */
export const posthogPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/batch/',
      credentials: inBody('api_key'),
      content: 'json',
      body: Type.Object(
        { api_key: someText, batch: anyRows, historical_migration: Type.Optional(Type.Boolean()) },
        { additionalProperties: false },
      ),
      rows: [{ at: 'batch', schema: row }],
      bytesMax: 20 * 1_024 * 1_024,
    },
  ],
  answers: {
    success: () => ({ status: 200, body: { status: 'Ok' } }),
    refusal: ({ field, message }) => failure(400, 'invalid_payload', `${field} ${message}`),
    throttled: { ...failure(429, 'rate_limited', 'Rate limited'), headers: { 'retry-after': '7' } },
    endedToken: failure(401, 'invalid_api_key', 'Project API key invalid.'),
    tooLarge: failure(413, 'request_too_large', 'The request is too large.'),
  },
});

function failure(status: number, code: string, detail: string) {
  return { status, body: { type: 'validation_error', code, detail, attr: null } };
}
