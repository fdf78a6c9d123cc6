import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import { anyRows, currencyCode, epochMs, oneOf, sha256Hex, someText, webAddress } from '../sdk/platform-schemas.ts';
import { platformEvents } from '../sdk/platform-events.ts';

const row = Type.Object({
  name: oneOf(...new Set(Object.values(platformEvents.AppLovin.names))),
  event_time: epochMs,
  event_source_url: webAddress,
  dedupe_id: Type.Optional(someText),
  data: Type.Union([
    Type.Null(),
    Type.Object({
      currency: Type.Optional(currencyCode),
      value: Type.Optional(Type.Number()),
      items: Type.Optional(Type.Array(Type.Object({ quantity: Type.Integer() }), { minItems: 1 })),
    }),
  ]),
  user_data: Type.Object({
    client_ip_address: someText,
    client_user_agent: someText,
    esi: oneOf('web', 'app'),
    client_id: Type.Optional(someText),
    email: Type.Optional(sha256Hex),
    phone: Type.Optional(sha256Hex),
  }),
});

/**
 * Axon Conversion API: AppLovin refuses a whole batch because of one invalid event. The Authorization header is the key
 * alone, without a scheme. https://support.axon.ai/en/growth/promoting-your-websites/api/axon-conversion-api
 */
export const appLovinPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/v1/event',
      credentials: inHeader('authorization', /^(?!Bearer )\S+$/),
      query: Type.Object({ pixel_id: someText }),
      content: 'json',
      body: Type.Object({ events: anyRows }),
      rows: [{ at: 'events', schema: row }],
      rowsMax: 100,
    },
  ],
  answers: {
    success: () => ({ status: 200 }),
    refusal: ({ field, message }) => ({ status: 400, body: `${field} ${message}` }),
    throttled: { status: 429 },
    endedToken: { status: 401, body: 'Authentication failed' },
  },
});
