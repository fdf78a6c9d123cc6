import { Type } from 'typebox';
import { definePlatform, noCredentials } from '../sdk/platform.ts';
import type { PlatformEndpoint } from '../sdk/platform.ts';
import { epochMs, someText } from '../sdk/platform-schemas.ts';

const event = Type.Object({
  event: Type.Object({ id: someText, event: someText, time: epochMs, event_properties: Type.Object({}) }),
  visitor: Type.Object({ id: someText }),
});

const endpoint: Omit<PlatformEndpoint, 'method'> = {
  path: '**',
  credentials: noCredentials,
  headers: { 'idempotency-key': /\S/, traceparent: /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/ },
  content: 'json',
  body: Type.Union([event, Type.Array(event, { minItems: 1 })]),
};

/** An HTTP endpoint of one's own: it takes an event with its visitor, or a list of them, and answers 2xx. https://www.rfc-editor.org/rfc/rfc9110 */
export const httpEndpoint = definePlatform({
  endpoints: [
    { ...endpoint, method: 'POST' },
    { ...endpoint, method: 'PUT' },
    { ...endpoint, method: 'PATCH' },
    { ...endpoint, method: 'GET' },
  ],
  answers: {
    success: () => ({ status: 200 }),
    refusal: ({ field, message }) => ({ status: 422, body: { field, message } }),
    throttled: { status: 429, headers: { 'retry-after': '7' } },
    endedToken: { status: 401 },
  },
});
