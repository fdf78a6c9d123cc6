import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import { instant, oneOf, someText } from '../sdk/platform-schemas.ts';

const address = Type.Object({
  addr1: someText,
  city: someText,
  state: someText,
  zip: someText,
  country: Type.Optional(someText),
});

const credentials = inHeader('authorization', /^Basic \S+$/);

/**
 * Members and their events in the Marketing API, whose errors are problem details (RFC 9457).
 * https://mailchimp.com/developer/marketing/docs/errors/
 */
export const mailchimpPlatform = definePlatform({
  endpoints: [
    {
      method: 'PUT',
      path: '/3.0/lists/{list}/members/{hash}',
      credentials,
      // Without it the merge fields that an audience requires must be present.
      query: Type.Object({ skip_merge_validation: Type.Literal('true') }),
      content: 'json',
      body: Type.Object({
        email_address: Type.String({ pattern: '^[^@\\s]+@[^@\\s]+$' }),
        status_if_new: oneOf('subscribed', 'pending', 'transactional', 'unsubscribed', 'cleaned'),
        status: Type.Optional(oneOf('subscribed', 'pending', 'transactional', 'unsubscribed', 'cleaned')),
        interests: Type.Optional(Type.Record(Type.String({ pattern: '^[0-9a-z]{6,20}$' }), Type.Boolean())),
        language: Type.Optional(Type.String({ pattern: '^[a-z]{2}(_[A-Z]{2})?$' })),
        merge_fields: Type.Optional(
          Type.Record(Type.String({ maxLength: 10 }), Type.Union([Type.String(), Type.Number(), address])),
        ),
      }),
      answers: { success: () => ({ status: 200, body: { id: '0a1b' } }) },
    },
    {
      method: 'POST',
      path: '/3.0/lists/{list}/members/{hash}/tags',
      credentials,
      content: 'json',
      body: Type.Object({
        tags: Type.Array(Type.Object({ name: someText, status: oneOf('active', 'inactive') }), { minItems: 1 }),
      }),
    },
    {
      method: 'POST',
      path: '/3.0/lists/{list}/members/{hash}/events',
      credentials,
      content: 'json',
      body: Type.Object({
        name: Type.String({ pattern: '^[A-Za-z0-9_-]{2,30}$' }),
        occurred_at: instant,
        properties: Type.Optional(Type.Record(Type.String(), Type.String())),
      }),
    },
  ],
  answers: {
    success: () => ({ status: 204 }),
    refusal: ({ field, message }) => problem(400, 'Invalid Resource', `${field} ${message}`),
    throttled: problem(429, 'Too Many Requests', 'You have exceeded the limit of 10 simultaneous connections.'),
    endedToken: problem(401, 'API Key Invalid', 'Your API key may be invalid.'),
  },
});

function problem(status: number, title: string, detail: string) {
  return { status, body: { type: 'https://mailchimp.com/developer/marketing/docs/errors/', title, status, detail } };
}
