import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import type { RowVerdict } from '../sdk/platform.ts';
import { anyRows, currencyCode, instant, oneOf, partly, sha256Hex, someText } from '../sdk/platform-schemas.ts';

const conversionTypes = [
  'ADD_TO_SHOPPING_CART',
  'APPLICATION',
  'CHECKOUT',
  'CONTACT',
  'LEAD',
  'OFF_AMAZON_PURCHASES',
  'MOBILE_APP_FIRST_START',
  'PAGE_VIEW',
  'SEARCH',
  'SIGN_UP',
  'SUBSCRIBE',
  'OTHER',
];

const row = Type.Object(
  {
    eventDescription: Type.Object({
      name: someText,
      conversionType: oneOf(...conversionTypes),
      eventSource: oneOf('WEBSITE', 'ANDROID', 'IOS', 'FIRE_TV', 'OFFLINE', 'MEASUREMENT_ATTRIBUTION_PARTNER'),
      eventIngestionMethod: Type.Literal('SERVER_TO_SERVER'),
      dataSetName: Type.Optional(Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_-]*$' })),
    }),
    eventTime: instant,
    countryCode: Type.String({ pattern: '^[A-Z]{2}$' }),
    matchKeys: Type.Array(
      Type.Union([
        Type.Object({
          type: oneOf('EMAIL', 'PHONE', 'FIRST_NAME', 'LAST_NAME', 'ADDRESS', 'CITY', 'STATE', 'POSTAL'),
          values: Type.Array(sha256Hex, { minItems: 1, maxItems: 1 }),
        }),
        Type.Object({
          type: oneOf('MAID', 'RAMP_ID', 'MATCH_ID'),
          values: Type.Array(someText, { minItems: 1, maxItems: 1 }),
        }),
      ]),
      { minItems: 1, maxItems: 11 },
    ),
    eventId: Type.Optional(someText),
    value: Type.Optional(Type.Number()),
    currencyCode: Type.Optional(currencyCode),
    unitsSold: Type.Optional(Type.Integer()),
    customData: Type.Optional(Type.Array(Type.Object({ name: someText, value: someText }), { minItems: 1 })),
    consent: Type.Optional(
      partly({
        geo: Type.Object({ ipAddress: someText }),
        amazonConsent: Type.Object({ amznAdStorage: someText, amznUserData: someText }),
        tcf: someText,
        gpp: someText,
      }),
    ),
    dataProcessingOptions: Type.Optional(
      Type.Object({ options: Type.Literal('LIMITED_DATA_USE') }, { additionalProperties: false }),
    ),
  },
  { additionalProperties: false },
);

const rowsAnswer = (verdicts: readonly RowVerdict[]) => ({
  status: 207,
  body: {
    success: verdicts.flatMap(({ row: event, problem }, index) => (problem === undefined ? [{ index, event }] : [])),
    error: verdicts.flatMap(({ problem }, index) =>
      problem === undefined
        ? []
        : [{ index, errors: [{ code: 'INVALID_ARGUMENT', fieldLocation: problem.field, message: problem.message }] }],
    ),
  },
});

/**
 * Amazon's Events API: a 207 has a result for each row.
 * https://advertising.amazon.com/API/docs/en-us/guides/events/events
 */
export const amazonDspPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/adsApi/v1/create/events',
      credentials: inHeader(),
      headers: { 'amazon-ads-accountid': /\S/, 'amazon-ads-clientid': /\S/ },
      content: 'json',
      body: Type.Object({ events: anyRows }),
      rows: [{ at: 'events', schema: row }],
      rowsMax: 500,
    },
  ],
  answers: {
    success: (rows) => rowsAnswer(rows.map((event) => ({ row: event, problem: undefined }))),
    partial: rowsAnswer,
    refusal: ({ field, message }) => ({ status: 400, body: { code: 'BAD_REQUEST', message: `${field} ${message}` } }),
    throttled: {
      status: 429,
      headers: { 'retry-after': '7' },
      body: { code: 'TOO_MANY_REQUESTS', message: 'throttled' },
    },
    endedToken: { status: 401, body: { code: 'UNAUTHORIZED', message: 'Not authorized to access this resource' } },
  },
});
