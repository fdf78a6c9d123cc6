import { Type } from 'typebox';
import { definePlatform, inQuery } from '../sdk/platform.ts';
import type { PlatformProblem } from '../sdk/platform.ts';
import { anyRows, currencyCode, epochSeconds, sha256Hex, sha256List, someText } from '../sdk/platform-schemas.ts';

const userData = Type.Partial(
  Type.Object({
    em: sha256List,
    ph: sha256List,
    external_id: sha256List,
    fn: sha256Hex,
    ln: sha256Hex,
    ge: sha256Hex,
    db: sha256Hex,
    ct: sha256Hex,
    st: sha256Hex,
    zp: sha256Hex,
    country: sha256Hex,
    client_ip_address: someText,
    client_user_agent: someText,
    sc_click_id: someText,
    sc_cookie1: someText,
    madid: someText,
    idfv: someText,
  }),
);

const row = Type.Object({
  event_name: Type.String({ pattern: '^[A-Z][A-Z0-9_]*$' }),
  event_time: epochSeconds,
  event_id: Type.Optional(someText),
  action_source: Type.String({ pattern: '^(WEB|OFFLINE|MOBILE_APP)$' }),
  user_data: userData,
  app_data: Type.Optional(
    Type.Object({ app_id: someText, extinfo: Type.Array(Type.String(), { minItems: 16, maxItems: 16 }) }),
  ),
  custom_data: Type.Optional(
    Type.Partial(Type.Object({ value: Type.Number(), currency: currencyCode, num_items: Type.Integer() })),
  ),
});

function checkRow(given: unknown): PlatformProblem | undefined {
  const { action_source: source, app_data: app } = given as { action_source: string; app_data?: unknown };
  const isMissing = source === 'MOBILE_APP' && app === undefined;
  return isMissing ? { field: 'app_data', message: 'is required for events of apps' } : undefined;
}

/**
 * Conversions API, version 3: Snap accepts all rows or none.
 * https://developers.snap.com/api/marketing-api/Conversions-API/UsingTheAPI
 */
export const snapchatPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/v3/{pixel}/events',
      credentials: inQuery('access_token'),
      content: 'json',
      body: Type.Object({ data: anyRows }),
      rows: [{ at: 'data', schema: row, check: checkRow }],
      rowsMax: 2_000,
    },
  ],
  answers: {
    success: (rows) => ({ status: 200, body: { status: 'OK', events_processed: rows.length } }),
    refusal: ({ field, message }) => ({ status: 400, body: { status: 'ERROR', reason: `${field} ${message}` } }),
    throttled: { status: 429, headers: { 'retry-after': '7' }, body: { status: 'ERROR', reason: 'rate limited' } },
    endedToken: { status: 401, body: { status: 'ERROR', reason: 'the token is not valid' } },
  },
});
