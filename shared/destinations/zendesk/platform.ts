import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import { instant, someText } from '../sdk/platform-schemas.ts';

const credentials = inHeader('authorization', /^Basic \S+$/);
const shortText = Type.String({ minLength: 1, maxLength: 40 });

/**
 * Users, and the events of their profiles.
 * https://developer.zendesk.com/api-reference/ticketing/users/events-api/events-api/
 */
export const zendeskPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/api/v2/users/create_or_update',
      credentials,
      content: 'json',
      body: Type.Object({
        user: Type.Object({
          name: Type.Optional(someText),
          organization: Type.Optional(Type.Object({ name: someText })),
        }),
      }),
      answers: { success: () => ({ status: 200, body: { user: { id: 1 } } }) },
    },
    {
      method: 'POST',
      path: '/api/v2/organizations/create_or_update',
      credentials,
      content: 'json',
      body: Type.Object({ organization: Type.Object({ name: someText, external_id: Type.Optional(someText) }) }),
      answers: { success: () => ({ status: 200, body: { organization: { id: 2 } } }) },
    },
    {
      method: 'POST',
      path: '/api/v2/user_profiles/events',
      credentials,
      content: 'json',
      body: Type.Object({
        profile: Type.Object({
          source: Type.String({ pattern: '^(?!zendesk$).{1,40}$' }),
          type: shortText,
          identifiers: Type.Array(Type.Object({ type: someText, value: someText }), { minItems: 1 }),
        }),
        event: Type.Object({
          source: Type.String({ pattern: '^(?!zendesk$).{1,40}$' }),
          type: shortText,
          created_at: instant,
          properties: Type.Object({}),
        }),
      }),
    },
  ],
  answers: {
    success: () => ({ status: 202, body: { status: 'received' } }),
    refusal: ({ field, message }) => ({
      status: 400,
      body: { error: { title: 'Invalid attribute', message: `${field} ${message}` } },
    }),
    throttled: { status: 429, headers: { 'retry-after': '7' }, body: { error: 'APIRateLimitExceeded' } },
    endedToken: { status: 401, body: { error: "Couldn't authenticate you" } },
  },
});
