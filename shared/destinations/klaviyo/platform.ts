import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import { instant, someText } from '../sdk/platform-schemas.ts';

const ids = Type.Partial(
  Type.Object({
    external_id: someText,
    email: someText,
    phone_number: Type.String({ pattern: String.raw`^\+[1-9]\d{6,14}$` }),
  }),
);

const eventBody = Type.Object({
  data: Type.Object({
    type: Type.Literal('event'),
    attributes: Type.Object({
      properties: Type.Object({}),
      time: instant,
      unique_id: someText,
      value: Type.Optional(Type.Number()),
      metric: Type.Object({
        data: Type.Object({
          type: Type.Literal('metric'),
          attributes: Type.Object({ name: Type.String({ minLength: 1, maxLength: 127 }) }),
        }),
      }),
      profile: Type.Object({ data: Type.Object({ type: Type.Literal('profile'), attributes: ids }) }),
    }),
  }),
});

const profileBody = Type.Object({ data: Type.Object({ type: Type.Literal('profile'), attributes: ids }) });

const headers = { revision: /^\d{4}-\d\d-\d\d$/, accept: /json/, 'content-type': /json/ };
const credentials = inHeader('authorization', /^Klaviyo-API-Key \S+$/);

/** JSON:API of Klaviyo: one event, or one profile, a request. https://developers.klaviyo.com/en/reference/create_event */
export const klaviyoPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/api/events',
      credentials,
      headers,
      content: 'json',
      body: eventBody,
      bytesMax: 5_000_000,
    },
    {
      method: 'POST',
      path: '/api/profile-import',
      credentials,
      headers,
      content: 'json',
      body: profileBody,
      bytesMax: 5_000_000,
      answers: { success: () => ({ status: 200, body: { data: { type: 'profile', id: '01H000' } } }) },
    },
  ],
  answers: {
    success: () => ({ status: 202 }),
    refusal: ({ field, message }) => failure(400, 'invalid', `${field} ${message}`),
    throttled: { ...failure(429, 'throttled', 'Request was throttled.'), headers: { 'retry-after': '7' } },
    endedToken: failure(401, 'not_authenticated', 'Authentication credentials were not provided or are wrong.'),
    tooLarge: failure(413, 'payload_too_large', 'The payload is too large.'),
  },
});

function failure(status: number, code: string, detail: string) {
  return {
    status,
    body: { errors: [{ id: '0a1b', status, code, title: code, detail, source: { pointer: '/data/' } }] },
  };
}
