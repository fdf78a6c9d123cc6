import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import {
  anyRows,
  currencyCode,
  epochSeconds,
  partly,
  sha256Hex,
  someText,
  webAddress,
} from '../sdk/platform-schemas.ts';

const row = Type.Object({
  eventId: someText,
  pixelId: Type.Integer(),
  eventTime: epochSeconds,
  source: Type.Literal('web'),
  userData: partly({
    sha2: sha256Hex,
    md5: Type.String({ pattern: '^[0-9a-f]{32}$' }),
    ip: someText,
    ua: someText,
  }),
  purchaseData: Type.Optional(partly({ currency: currencyCode, value: Type.Number(), sourceUrl: webAddress })),
});

/**
 * Conversions of LiveIntent: 204 if all rows are accepted, 200 if only some are, without naming them. If none is, this
 * simulation responds with 400. https://conversions.liveintent.com/api-guide
 */
export const liveIntentPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/conversions/{customer}',
      credentials: inHeader(),
      content: 'json',
      body: anyRows,
      rows: [{ at: '', schema: row }],
      rowsMax: 100,
    },
  ],
  answers: {
    success: () => ({ status: 204 }),
    partial: (rows) => ({ status: rows.some(({ problem }) => problem === undefined) ? 200 : 400 }),
    refusal: ({ field, message }) => ({ status: 400, body: { message: `${field} ${message}` } }),
    throttled: { status: 429 },
    endedToken: { status: 401 },
  },
});
