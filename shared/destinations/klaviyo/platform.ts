import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import type { PlatformEndpoint } from '../sdk/platform.ts';
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

// `patch_properties` of a profile: https://developers.klaviyo.com/en/reference/create_or_update_profile
const patch = Type.Partial(
  Type.Object({
    append: Type.Object({}),
    unappend: Type.Object({}),
    unset: Type.Union([someText, Type.Array(someText)]),
  }),
  { additionalProperties: false },
);

const profileBody = Type.Object({
  data: Type.Object(
    {
      type: Type.Literal('profile'),
      attributes: ids,
      meta: Type.Optional(Type.Object({ patch_properties: patch }, { additionalProperties: false })),
    },
    { additionalProperties: false },
  ),
});

const productsBody = Type.Object({
  data: Type.Object({
    type: Type.Literal('event-bulk-create-job'),
    attributes: Type.Object({
      'events-bulk-create': Type.Object({
        data: Type.Array(
          Type.Object({
            type: Type.Literal('event-bulk-create'),
            attributes: Type.Object({
              backfill: Type.Optional(Type.Boolean()),
              profile: Type.Object({ data: Type.Object({ type: Type.Literal('profile'), attributes: ids }) }),
              events: Type.Object({
                data: Type.Array(
                  Type.Object({
                    type: Type.Literal('event'),
                    attributes: Type.Omit(eventBody.properties.data.properties.attributes, ['profile']),
                  }),
                  { minItems: 1, maxItems: 1_000 },
                ),
              }),
            }),
          }),
          { minItems: 1 },
        ),
      }),
    }),
  }),
});

const list = Type.Object({ list: Type.Object({ data: Type.Object({ type: Type.Literal('list'), id: someText }) }) });

function subscriptionBody(action: 'create' | 'delete', consent: string) {
  const channel = Type.Object({
    marketing: Type.Object({ consent: Type.Literal(consent), consented_at: Type.Optional(instant) }),
  });
  return Type.Object({
    data: Type.Object({
      type: Type.Literal(`profile-subscription-bulk-${action}-job`),
      attributes: Type.Object({
        profiles: Type.Object({
          data: Type.Array(
            Type.Object({
              type: Type.Literal('profile'),
              attributes: Type.Object({
                email: Type.Optional(someText),
                phone_number: Type.Optional(Type.String({ pattern: String.raw`^\+[1-9]\d{6,14}$` })),
                subscriptions: Type.Object(
                  { email: Type.Optional(channel), sms: Type.Optional(channel) },
                  { minProperties: 1, additionalProperties: false },
                ),
              }),
            }),
            { minItems: 1, maxItems: 1_000 },
          ),
        }),
      }),
      relationships: Type.Optional(list),
    }),
  });
}

const pushTokenBody = Type.Object({
  data: Type.Object({
    type: Type.Literal('push-token'),
    attributes: Type.Object({
      token: someText,
      platform: Type.Enum(['android', 'ios']),
      vendor: Type.Enum(['apns', 'fcm']),
      enablement_status: Type.Enum(['AUTHORIZED', 'DENIED', 'NOT_DETERMINED', 'PROVISIONAL', 'UNAUTHORIZED']),
      background: Type.Enum(['AVAILABLE', 'DENIED', 'RESTRICTED']),
      profile: Type.Object({ data: Type.Object({ type: Type.Literal('profile'), attributes: ids }) }),
    }),
  }),
});

const headers = { revision: /^\d{4}-\d\d-\d\d$/, accept: /json/, 'content-type': /json/ };
const credentials = inHeader('authorization', /^Klaviyo-API-Key \S+$/);

/** JSON:API of Klaviyo: one event or profile per request. https://developers.klaviyo.com/en/reference/create_event */
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
    ...[
      ['/api/event-bulk-create-jobs', productsBody] as const,
      ['/api/profile-subscription-bulk-create-jobs', subscriptionBody('create', 'SUBSCRIBED')] as const,
      ['/api/profile-subscription-bulk-delete-jobs', subscriptionBody('delete', 'UNSUBSCRIBED')] as const,
      ['/api/push-tokens', pushTokenBody] as const,
    ].map(([path, body]): PlatformEndpoint => ({
      method: 'POST',
      path,
      credentials,
      headers,
      content: 'json',
      body,
      bytesMax: 5_000_000,
    })),
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
