import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import type { PlatformEndpoint } from '../sdk/platform.ts';
import { currencyCode, instant, someText, uuidText } from '../sdk/platform-schemas.ts';

const user = Type.Object(
  {
    phone: Type.Optional(Type.String({ pattern: String.raw`^\+[1-9]\d{6,14}$` })),
    email: Type.Optional(Type.String({ pattern: '@' })),
    externalIdentifiers: Type.Optional(
      Type.Partial(Type.Object({ clientUserId: someText, shopifyId: someText, klaviyoId: someText })),
    ),
  },
  { minProperties: 1, additionalProperties: false },
);

/** The person to subscribe or unsubscribe. */
const contact = Type.Object(
  { phone: user.properties.phone, email: user.properties.email },
  { minProperties: 1, additionalProperties: false },
);

const items = Type.Array(
  Type.Object({
    productId: someText,
    productVariantId: someText,
    price: Type.Array(Type.Object({ value: Type.Number(), currency: Type.Optional(currencyCode) }), { minItems: 1 }),
    quantity: Type.Optional(Type.Integer()),
  }),
  { minItems: 1 },
);

const properties = Type.Record(Type.String({ pattern: '^[^"{}\\[\\]\\\\|]*$' }), Type.Unknown());

/**
 * Events, attributes and subscriptions of Attentive, one per request.
 * https://docs.attentivemobile.com/openapi/reference/tag/Custom-Events/
 */
export const attentivePlatform = definePlatform({
  endpoints: [
    ...['product-view', 'add-to-cart', 'purchase'].map((path) =>
      endpoint(`/v1/events/ecommerce/${path}`, Type.Object({ user, items, occurredAt: instant })),
    ),
    endpoint(
      '/v1/events/custom',
      Type.Object({
        user,
        type: Type.String({ pattern: '^[^"\'(){}\\[\\]\\\\|,]+$' }),
        properties: Type.Optional(properties),
        externalEventId: uuidText,
        occurredAt: instant,
      }),
    ),
    endpoint('/v1/attributes/custom', Type.Object({ user, properties })),
    endpoint('/v1/subscriptions', Type.Object({ user: contact, signUpSourceId: someText })),
    endpoint(
      '/v1/subscriptions/unsubscribe',
      Type.Object({
        user: contact,
        subscriptions: Type.Optional(
          Type.Array(
            Type.Object({
              type: Type.Enum(['MARKETING', 'TRANSACTIONAL', 'CHECKOUT_ABANDONED']),
              channel: Type.Enum(['TEXT', 'EMAIL']),
            }),
          ),
        ),
      }),
    ),
  ],
  answers: {
    success: () => ({ status: 200 }),
    refusal: ({ field, message }) => ({ status: 400, body: { message: `${field} ${message}` } }),
    throttled: { status: 429 },
    endedToken: { status: 401, body: { message: 'Unauthorized' } },
  },
});

function endpoint(path: string, body: TSchema): PlatformEndpoint {
  return { method: 'POST', path, credentials: inHeader(), content: 'json', body };
}
