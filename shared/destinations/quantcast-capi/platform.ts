import { Type } from 'typebox';
import { definePlatform, inQuery } from '../sdk/platform.ts';
import { anyRows, epochMs, partly, sha256Hex, someText, webAddress } from '../sdk/platform-schemas.ts';

const row = Type.Object({
  name: someText,
  time: epochMs,
  url: Type.Optional(webAddress),
  referer: Type.Optional(webAddress),
  user: partly({
    token: someText,
    client_ip: someText,
    client_user_agent: someText,
    email: sha256Hex,
    external_id: someText,
  }),
  event: Type.Optional(
    partly({ orderid: someText, revenue: Type.Number(), product_category: someText, labels: Type.Array(someText) }),
  ),
});

/**
 * Conversions of Quantcast, which accepts all rows or none. The account ID in the query is the only credential.
 * https://help.quantcast.com/docs/tagging-with-the-quantcast-live-tag-using-the-conversion-api
 */
export const quantcastCapiPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/conversion',
      credentials: inQuery('a', /^p-\S+$/),
      content: 'json',
      body: anyRows,
      rows: [
        {
          at: '',
          schema: row,
          check: (given) =>
            isKnown(given) ? undefined : { field: 'user', message: 'needs a token, or address and browser' },
        },
      ],
    },
  ],
  answers: {
    success: () => ({ status: 200 }),
    refusal: ({ field, message }) => ({ status: 400, body: `${field} ${message}` }),
    throttled: { status: 429 },
    endedToken: { status: 403 },
  },
});

function isKnown(row: unknown): boolean {
  const { user } = row as { user: Readonly<Record<string, unknown>> };
  return 'token' in user || ('client_ip' in user && 'client_user_agent' in user);
}
