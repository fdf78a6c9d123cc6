import { Type } from 'typebox';
import { definePlatform, noCredentials } from '../sdk/platform.ts';
import { anyRows, someText } from '../sdk/platform-schemas.ts';

const conversion = Type.Object({
  eventType: Type.Literal('conversion'),
  data: Type.Object({
    goalId: Type.String({ pattern: '^[0-9]+$' }),
    goalData: Type.Optional(
      Type.Array(
        Type.Object({
          key: Type.Enum(['amount', 'productsCount', 'transactionId']),
          value: Type.Union([Type.Number(), Type.String()]),
        }),
      ),
    ),
  }),
});

const visitor = Type.Object({ visitorId: someText, events: Type.Array(conversion, { minItems: 1 }) });

/**
 * Conversions of Convert, which requires no credentials besides the account and project in the path.
 * https://github.com/convertcom/javascript-sdk
 */
export const convertAbTestingEventPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/v1/track/{account}/{project}',
      credentials: noCredentials,
      content: 'json',
      body: Type.Object({
        accountId: someText,
        projectId: someText,
        enrichData: Type.Boolean(),
        source: someText,
        visitors: anyRows,
      }),
      rows: [{ at: 'visitors', schema: visitor }],
    },
  ],
  answers: {
    success: () => ({ status: 200, body: { message: 'ok' } }),
    refusal: ({ field, message }) => ({ status: 400, body: { message: `${field} ${message}` } }),
    throttled: { status: 429 },
    endedToken: { status: 403 },
  },
});
