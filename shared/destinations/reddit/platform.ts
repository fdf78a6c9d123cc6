import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import { anyRows, currencyCode, epochMs, oneOf, sha256Hex, someText } from '../sdk/platform-schemas.ts';

const user = Type.Partial(
  Type.Object({
    email: sha256Hex,
    phone_number: sha256Hex,
    external_id: sha256Hex,
    idfa: sha256Hex,
    aaid: sha256Hex,
    ip_address: sha256Hex,
    uuid: someText,
    user_agent: someText,
    screen_dimensions: Type.Object({ width: Type.Number(), height: Type.Number() }),
  }),
);

const trackingTypes = [
  'PAGE_VISIT',
  'VIEW_CONTENT',
  'SEARCH',
  'ADD_TO_CART',
  'ADD_TO_WISHLIST',
  'PURCHASE',
  'LEAD',
  'SIGN_UP',
  'CUSTOM',
];

const row = Type.Object({
  event_at: epochMs,
  action_source: oneOf('WEBSITE', 'APP', 'PHYSICAL_STORE', 'OTHER'),
  type: Type.Object({
    tracking_type: oneOf(...trackingTypes),
    custom_event_name: Type.Optional(someText),
  }),
  user: Type.Optional(user),
  metadata: Type.Object({
    conversion_id: someText,
    value: Type.Optional(Type.Number()),
    currency: Type.Optional(currencyCode),
    item_count: Type.Optional(Type.Integer()),
  }),
});

/**
 * Conversions API, version 3: Reddit accepts all rows or none.
 * https://ads-api.reddit.com/docs/v3/operations/Post%20Conversion%20Events
 */
export const redditPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/api/v3/pixels/{pixel}/conversion_events',
      credentials: inHeader(),
      content: 'json',
      body: Type.Object({ data: Type.Object({ events: anyRows, test_id: Type.Optional(someText) }) }),
      rows: [{ at: 'data.events', schema: row }],
      rowsMax: 1_000,
    },
  ],
  answers: {
    success: (rows) => ({ status: 200, body: { data: { message: `Successfully processed ${rows.length} events.` } } }),
    refusal: ({ field, message }) => failure(400, 'Bad Request', `${field} ${message}`),
    throttled: { ...failure(429, 'Too Many Requests', 'rate limited'), headers: { 'retry-after': '7' } },
    endedToken: failure(401, 'Unauthorized', 'the token is not valid'),
  },
});

function failure(code: number, reason: string, message: string) {
  return { status: code, body: { error: { code, reason, message } } };
}
