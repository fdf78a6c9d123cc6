import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import { anyRows, instant, someText } from '../sdk/platform-schemas.ts';

const ids = {
  external_id: Type.Optional(someText),
  email: Type.Optional(someText),
  user_alias: Type.Optional(Type.Object({ alias_name: someText, alias_label: someText })),
};

const event = Type.Object({
  ...ids,
  name: Type.String({ minLength: 1, maxLength: 255 }),
  time: instant,
  properties: Type.Optional(Type.Object({})),
});

/** A purchase: https://www.braze.com/docs/api/objects_filters/purchase_object */
const purchase = Type.Object({
  ...ids,
  product_id: Type.String({ minLength: 1, maxLength: 255 }),
  currency: Type.String({ pattern: '^[A-Z]{3}$' }),
  price: Type.Number(),
  quantity: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  time: instant,
  properties: Type.Optional(Type.Object({})),
});

const pushTokens = Type.Array(Type.Object({ app_id: someText, token: someText, device_id: Type.Optional(someText) }), {
  minItems: 1,
});

/** A subscription group of a user: https://www.braze.com/docs/api/objects_filters/user_attributes_object */
const groupState = Type.Object(
  { subscription_group_id: someText, subscription_state: Type.Enum(['subscribed', 'unsubscribed']) },
  { additionalProperties: false },
);

/** An alias to merge into a user: https://www.braze.com/docs/api/endpoints/user_data/post_user_identify */
const identified = Type.Object({
  external_id: someText,
  user_alias: Type.Object({ alias_name: someText, alias_label: someText }),
});

/** Required fields by event: https://www.braze.com/docs/user_guide/data/activation/events/recommended_events */
const demanded: Readonly<Record<string, readonly string[]>> = {
  'ecommerce.product_viewed': ['product_id', 'product_name', 'variant_id', 'price', 'currency', 'source'],
  'ecommerce.cart_updated': ['cart_id', 'products', 'currency', 'source'],
  'ecommerce.checkout_started': ['checkout_id', 'total_value', 'products', 'currency', 'source'],
  'ecommerce.order_placed': ['order_id', 'total_value', 'products', 'currency', 'source'],
  'ecommerce.order_cancelled': ['order_id', 'cancel_reason', 'total_value', 'products', 'currency', 'source'],
  'ecommerce.order_refunded': ['order_id', 'total_value', 'products', 'currency', 'source'],
};

function wrongEvent(row: unknown) {
  const { name, properties } = row as {
    readonly name: string;
    readonly properties?: Readonly<Record<string, unknown>>;
  };
  const missing = demanded[name]?.find((member) => !(member in (properties ?? {})));
  if (missing !== undefined) return { field: `properties.${missing}`, message: 'is required' };
  const isSum = name !== 'ecommerce.cart_updated' || ['add', 'remove'].includes(String(properties?.['action']));
  return isSum || 'total_value' in (properties ?? {})
    ? unnamed(row)
    : { field: 'properties.total_value', message: 'is required' };
}

function unnamed(row: unknown) {
  const isNamed = ['external_id', 'email', 'user_alias', 'braze_id'].some((name) => name in (row as object));
  return isNamed ? undefined : { field: '', message: 'must identify a user' };
}

/**
 * User data of Braze: a 201 lists refused rows in `errors`.
 * https://www.braze.com/docs/api/endpoints/user_data/post_user_track
 */
export const brazePlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/users/track',
      credentials: inHeader(),
      content: 'json',
      body: Type.Object({
        attributes: Type.Optional(anyRows),
        events: Type.Optional(anyRows),
        purchases: Type.Optional(anyRows),
      }),
      rows: [
        {
          at: 'attributes',
          schema: Type.Object({
            ...ids,
            push_tokens: Type.Optional(pushTokens),
            subscription_groups: Type.Optional(Type.Array(groupState, { maxItems: 50 })),
            _merge_objects: Type.Optional(Type.Boolean()),
          }),
          check: unnamed,
        },
        { at: 'events', schema: event, check: wrongEvent },
        { at: 'purchases', schema: purchase, check: unnamed },
      ],
      // The total of the lists: https://www.braze.com/docs/api/api_limits
      rowsMax: 75,
    },
    {
      method: 'POST',
      path: '/users/identify',
      credentials: inHeader(),
      content: 'json',
      body: Type.Object({
        aliases_to_identify: anyRows,
        merge_behavior: Type.Optional(Type.Enum(['none', 'merge'])),
      }),
      rows: [{ at: 'aliases_to_identify', schema: identified }],
      rowsMax: 50,
      answers: {
        success: (rows) => ({ status: 201, body: { aliases_processed: rows.length, message: 'success' } }),
      },
    },
  ],
  answers: {
    success: (rows) => ({ status: 201, body: { message: 'success', events_processed: rows.length } }),
    partial: (verdicts) => ({
      status: 201,
      body: {
        message: 'success',
        errors: verdicts.flatMap(({ row, problem }, place) => {
          if (problem === undefined) return [];
          const list = listOf(row);
          const before = verdicts.slice(0, place).filter((other) => listOf(other.row) === list);
          return [{ type: problem.message, input_array: list, index: before.length }];
        }),
      },
    }),
    refusal: ({ field, message }) => ({ status: 400, body: { message: `${field} ${message}` } }),
    throttled: { status: 429, headers: { 'retry-after': '7' }, body: { message: 'Rate limit exceeded' } },
    endedToken: { status: 401, body: { message: 'Invalid API key' } },
    tooLarge: { status: 413, body: { message: 'Payload too large' } },
  },
});

function listOf(row: unknown): string {
  const { time, product_id: productId } = row as { readonly time?: unknown; readonly product_id?: unknown };
  if (time === undefined) return 'attributes';
  return productId === undefined ? 'events' : 'purchases';
}
