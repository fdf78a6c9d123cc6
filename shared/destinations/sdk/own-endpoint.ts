import { Type } from 'typebox';
import { definePlatform, noCredentials } from './platform.ts';
import { someText } from './platform-schemas.ts';

const event = Type.Object({
  // The time is as the client sent it, which may be with a fraction.
  event: Type.Object({ id: someText, event: someText, time: Type.Number(), event_properties: Type.Object({}) }),
  visitor: Type.Object({ id: someText }),
});

/**
 * A scripted HTTP endpoint of an operator. It requires these headers and the idempotency key, accepts
 * `{event, visitor}` or a list of such objects, and responds with 200.
 * https://www.rfc-editor.org/rfc/rfc9110
 */
export function defineOwnEndpoint(headers: Readonly<Record<string, RegExp>>): ReturnType<typeof definePlatform> {
  return definePlatform({
    endpoints: (['POST', 'PUT', 'PATCH', 'GET'] as const).map((method) => ({
      method,
      path: '**',
      credentials: noCredentials,
      headers: { 'idempotency-key': /\S/, ...headers },
      content: 'json',
      body: Type.Union([event, Type.Array(event, { minItems: 1 })]),
    })),
    answers: {
      success: () => ({ status: 200 }),
      refusal: ({ field, message }) => ({ status: 422, body: { field, message } }),
      throttled: { status: 429, headers: { 'retry-after': '7' } },
      endedToken: { status: 401 },
    },
  });
}
