import { Type } from 'typebox';
import { definePlatform, noCredentials } from '../sdk/platform.ts';
import { anyRows, currencyCode, epochMs, someText } from '../sdk/platform-schemas.ts';

const row = Type.Object({
  'click-id': someText,
  timestamp: epochMs,
  name: someText,
  revenue: Type.Optional(Type.Number()),
  currency: Type.Optional(currencyCode),
  quantity: Type.Optional(Type.Integer()),
  orderid: Type.Optional(someText),
});

/** Conversions of Taboola, in bulk. https://developers.taboola.com/pixel/docs/bulk-submit-s2s-conversions */
export const taboolaPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/{account}/log/3/bulk-s2s-action',
      credentials: noCredentials,
      content: 'json',
      body: Type.Object({ actions: anyRows }),
      rows: [{ at: 'actions', schema: row }],
      rowsMax: 1_000,
    },
  ],
  answers: {
    success: () => ({ status: 204 }),
    refusal: ({ field, message }) => ({ status: 400, body: { message: `${field} ${message}` } }),
    throttled: { status: 429 },
    endedToken: { status: 403 },
  },
});
