import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import {
  anyRows,
  currencyCode,
  epochSeconds,
  hashedPerson,
  oneOf,
  partly,
  sha256List,
  someText,
} from '../sdk/platform-schemas.ts';

const numberText = Type.String({ pattern: String.raw`^-?\d+(\.\d+)?$` });

const userData = partly({
  ...hashedPerson,
  hashed_maids: sha256List,
  click_id: someText,
  partner_id: someText,
  client_ip_address: someText,
  client_user_agent: someText,
});

const row = Type.Object({
  event_name: Type.String({ pattern: '^[a-z][a-z0-9_]*$' }),
  action_source: oneOf('web', 'offline', 'app_android', 'app_ios'),
  event_time: epochSeconds,
  event_id: someText,
  user_data: userData,
  opt_out: Type.Optional(Type.Boolean()),
  advertiser_tracking_enabled: Type.Optional(Type.Boolean()),
  app_id: Type.Optional(someText),
  language: Type.Optional(Type.String({ pattern: '^[a-z]{2}$' })),
  custom_data: Type.Optional(
    Type.Partial(
      Type.Object({
        value: numberText,
        currency: currencyCode,
        num_items: Type.Integer(),
        content_name: someText,
        content_category: someText,
        content_brand: someText,
        predicted_ltv: numberText,
        np: someText,
        opt_out_type: someText,
      }),
    ),
  ),
});

/**
 * API for Conversions, version 5: a response has the result of each row, in the order of the request.
 * https://developers.pinterest.com/docs/api/v5/events-create
 */
export const pinterestPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/v5/ad_accounts/{account}/events',
      credentials: inHeader(),
      content: 'json',
      body: Type.Object({ data: anyRows }),
      rows: [{ at: 'data', schema: row }],
      rowsMax: 1_000,
    },
  ],
  answers: {
    success: (rows) => ({
      status: 200,
      body: {
        num_events_received: rows.length,
        num_events_processed: rows.length,
        events: rows.map(() => ({ status: 'processed', error_message: '', warning_message: '' })),
      },
    }),
    partial: (verdicts) => ({
      status: 422,
      body: {
        code: 1_870,
        message: 'Not all events processed',
        details: {
          num_events_received: verdicts.length,
          num_events_processed: verdicts.filter(({ problem }) => problem === undefined).length,
          events: verdicts.map(({ problem }) => ({
            status: problem === undefined ? 'processed' : 'failed',
            error_message: problem?.message ?? '',
          })),
        },
      },
    }),
    refusal: ({ field, message }) => ({ status: 400, body: { code: 1, message: `${field} ${message}` } }),
    throttled: { status: 429, headers: { 'retry-after': '7' }, body: { code: 8, message: 'Exceeded rate limit' } },
    endedToken: { status: 401, body: { code: 2, message: 'Authentication failed' } },
  },
});
